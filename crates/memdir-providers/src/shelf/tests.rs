#![expect(clippy::disallowed_methods, reason = "tests write files as a person does")]

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{Added, Adding, Place, Shelf, ShelfError, disk};
use crate::header::HeaderError;
use crate::header::tests::Gguf;
use memdir_core::time::Timestamp;

struct Home {
    folder: TempDir,
    shelf: Shelf,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(folder.path().join("data/models"));
        Self { folder, shelf }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn add(&self, files: &[PathBuf], name: Option<&str>, place: Place) -> Result<Added, ShelfError> {
        let adding = Adding { files, name, place, free_bytes: None, now: Timestamp::from_seconds(1_800_000_000) };
        self.shelf.add(&adding, &mut |_, _| (), &CancellationToken::new())
    }

    /// The names on the shelf.
    fn names(&self) -> Vec<String> {
        disk::names(self.shelf.folder()).unwrap()
    }

    fn verify(&self, name: &str) -> Result<(), ShelfError> {
        self.shelf.verify(&self.shelf.find(name)?, &mut |_, _| (), &CancellationToken::new())
    }

    /// Makes sure of a model, and tells whether all of it was read.
    fn ensure(&self, name: &str) -> (Result<(), ShelfError>, bool) {
        let mut is_read = false;
        let kept = self.shelf.find(name).unwrap();
        let ensured = self.shelf.ensure(&kept, &mut |_, _| is_read = true, &CancellationToken::new());
        (ensured, is_read)
    }
}

fn touch(path: &Path, seconds: u64) {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    fs::OpenOptions::new().append(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn a_file_is_added_found_and_removed() {
    let home = Home::new();
    let bytes = Gguf::small().bytes();
    let file = home.write("My Model.Q4_K_M.gguf", &bytes);
    let Added { kept, was_there } = home.add(std::slice::from_ref(&file), None, Place::Shelf).unwrap();
    assert_eq!((kept.name.as_str(), was_there, kept.is_in_place), ("my-model.q4_k_m", false, false));
    assert_eq!(kept.licence.as_deref(), Some("apache-2.0"));
    assert_eq!(home.names(), ["my-model.q4_k_m.gguf", "my-model.q4_k_m.toml"]);
    assert_eq!(fs::read(&kept.file).unwrap(), bytes);
    assert_eq!(home.shelf.find("my-model.q4_k_m"), Ok(kept.clone()));
    assert_eq!(home.shelf.list().unwrap().kept, std::slice::from_ref(&kept));
    assert_eq!(home.shelf.facts(&kept).unwrap().architecture.as_deref(), Some("qwen2"));
    home.verify("my-model.q4_k_m").unwrap();
    home.shelf.remove("my-model.q4_k_m").unwrap();
    assert!(home.names().is_empty() && file.exists());
}

#[test]
fn parts_are_joined_in_the_order_of_their_numbers() {
    let home = Home::new();
    let bytes = Gguf::small().bytes();
    let pieces = bytes.chunks(bytes.len().div_ceil(11)).enumerate();
    let mut files: Vec<PathBuf> =
        pieces.map(|(at, piece)| home.write(&format!("m.gguf.part{}", at + 1), piece)).collect();
    files.sort();
    assert!(files[1].ends_with("m.gguf.part10"), "not in numeric order: {files:?}");
    let kept = home.add(&files, None, Place::Shelf).unwrap().kept;
    assert_eq!((kept.name.as_str(), fs::read(&kept.file).unwrap() == bytes), ("m", true));
    let missing = home.add(&files[1..], Some("other"), Place::Shelf);
    assert!(matches!(missing, Err(ShelfError::Parts(_))), "{missing:?}");
    let one = home.add(&files[..1], Some("other"), Place::Shelf).unwrap_err();
    assert!(matches!(one, ShelfError::NotAModel { why: HeaderError::Cut { .. }, .. }), "{one:?}");
}

#[test]
fn a_split_model_is_refused_by_its_name_and_by_what_it_says() {
    let home = Home::new();
    let split = Gguf::small().key("split.count", 2, &2_u16.to_le_bytes()).bytes();
    let named = home.write("big-00001-of-00002.gguf", &Gguf::small().bytes());
    let plain = home.write("big.gguf", &split);
    let second = home.write("big1.gguf", &Gguf::small().bytes());
    let third = home.write("big2.gguf", &Gguf::small().bytes());
    for files in [vec![named], vec![plain], vec![second, third]] {
        let refused = home.add(&files, None, Place::Shelf);
        assert!(matches!(refused, Err(ShelfError::Split(_))), "{refused:?}");
    }
    assert!(home.names().is_empty());
}

#[test]
fn a_file_that_is_there_is_known_again() {
    let home = Home::new();
    let file = home.write("a.gguf", &Gguf::small().bytes());
    let other = home.write("b.gguf", &Gguf::small().says("x", "y").bytes());
    let first = home.add(std::slice::from_ref(&file), None, Place::Shelf).unwrap();
    let again = home.add(std::slice::from_ref(&file), None, Place::Shelf).unwrap();
    assert_eq!(again, Added { was_there: true, ..first.clone() });
    let copy = home.write("copy.gguf", &Gguf::small().bytes());
    assert_eq!(home.add(std::slice::from_ref(&copy), None, Place::Shelf), Ok(again.clone()));
    assert_eq!(home.add(&[copy], Some("c"), Place::Shelf), Err(ShelfError::Known("a".into())));
    assert_eq!(home.add(&[other], Some("a"), Place::Shelf), Err(ShelfError::Taken("a".into())));
    // One whose file is gone is put back.
    fs::remove_file(&first.kept.file).unwrap();
    assert_eq!(home.verify("a"), Err(ShelfError::Missing("a".into())));
    assert!(!home.add(&[file], None, Place::Shelf).unwrap().was_there);
    home.verify("a").unwrap();
}

#[test]
fn a_file_can_stay_where_it_lies() {
    let home = Home::new();
    let file = home.write("a.gguf", &Gguf::small().bytes());
    let kept = home.add(std::slice::from_ref(&file), Some("b"), Place::Here).unwrap().kept;
    assert_eq!((kept.file, kept.is_in_place), (file.canonicalize().unwrap(), true));
    assert_eq!(home.names(), ["b.toml"]);
    home.verify("b").unwrap();
    home.shelf.remove("b").unwrap();
    assert!(file.exists() && home.names().is_empty());
    let parts = home.add(&[home.write("m1", b"GGUF"), home.write("m2", b"")], None, Place::Here);
    assert!(parts.is_err(), "{parts:?}");
}

#[test]
fn a_changed_file_is_seen_before_it_is_used() {
    let home = Home::new();
    let file = home.write("a.gguf", &Gguf::small().bytes());
    let kept = home.add(&[file], None, Place::Shelf).unwrap().kept;
    assert_eq!(home.ensure("a"), (Ok(()), false), "nothing has changed, and nothing is read");
    touch(&kept.file, 1_700_000_000);
    assert_eq!(home.ensure("a"), (Ok(()), true), "another time, so it is read");
    assert_eq!(home.ensure("a"), (Ok(()), false), "the new time is known now");
    let mut bytes = fs::read(&kept.file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&kept.file, &bytes).unwrap();
    touch(&kept.file, 1_700_000_001);
    let (changed, _) = home.ensure("a");
    assert!(matches!(changed, Err(ShelfError::Changed { .. })), "{changed:?}");
    touch(&kept.file, 1_700_000_000);
    assert_eq!(home.ensure("a").0, Ok(()), "size and time alone do not show it");
    assert!(matches!(home.verify("a"), Err(ShelfError::Changed { .. })), "and reading all of it does");
    fs::write(&kept.file, b"GGUF").unwrap();
    assert!(matches!(home.ensure("a").0, Err(ShelfError::Changed { .. })));
}

#[test]
fn a_shelf_that_is_full_or_in_use_is_left_alone() {
    let home = Home::new();
    let bytes = Gguf::small().bytes();
    let files = [home.write("a.gguf", &bytes)];
    let add = |free_bytes, stop: &CancellationToken, tell: &mut dyn FnMut(u64, u64)| {
        let now = Timestamp::from_seconds(0);
        home.shelf.add(&Adding { files: &files, name: None, place: Place::Shelf, free_bytes, now }, tell, stop)
    };
    let wanted = bytes.len() as u64;
    let full = add(Some(wanted - 1), &CancellationToken::new(), &mut |_, _| ());
    assert_eq!(full, Err(ShelfError::Full { wanted, free: wanted - 1 }));
    let stop = CancellationToken::new();
    let stopped = add(Some(wanted), &stop, &mut |done, _| {
        if done > wanted {
            stop.cancel()
        }
    });
    assert_eq!(stopped, Err(ShelfError::Cancelled));
    assert!(home.names().is_empty(), "{:?}", home.names());
    let lock = home.shelf.open_part("a").unwrap();
    assert_eq!(add(None, &CancellationToken::new(), &mut |_, _| ()), Err(ShelfError::Busy("a".into())));
    assert_eq!(home.shelf.remove("a"), Err(ShelfError::Busy("a".into())));
    drop(lock);
    assert_eq!(home.shelf.list().unwrap().parts, [("a".to_owned(), 0)]);
    // What a crash has left does not stand in the way.
    fs::write(home.shelf.part("a"), b"half").unwrap();
    assert!(add(None, &CancellationToken::new(), &mut |_, _| ()).is_ok());
    assert_eq!(home.names(), ["a.gguf", "a.toml"]);
}

#[test]
fn what_is_written_down_is_read_with_care() {
    let home = Home::new();
    fs::create_dir_all(home.shelf.folder()).unwrap();
    for (text, expected) in [
        ("", "its version is none, and 1 is known"),
        ("version = 2", "its version is 2, and 1 is known"),
        ("no toml", "it is no TOML"),
        ("version = 1", "missing field `sha256`"),
    ] {
        fs::write(home.shelf.folder().join("a.toml"), text).unwrap();
        let broken = ShelfError::Record { name: "a".into(), why: expected.into() };
        assert_eq!(home.shelf.find("a"), Err(broken.clone()));
        assert_eq!(home.shelf.list().unwrap().broken, [broken]);
    }
    home.shelf.remove("a").unwrap();
    let known = |error| if let ShelfError::NotThere { known, .. } = error { known } else { panic!("{error:?}") };
    assert_eq!(known(home.shelf.find("a").unwrap_err()), Vec::<String>::new());
}

#[test]
fn names_that_cannot_be() {
    let home = Home::new();
    let file = home.write("a.gguf", &Gguf::small().bytes());
    let long = "a".repeat(65);
    for name in ["", "../a", "a/b", "A", ".a", "-a", "a::b", "a b", "ä", "a.part", "a.toml", "a.gguf", long.as_str()] {
        let refused = home.add(std::slice::from_ref(&file), Some(name), Place::Shelf);
        assert!(matches!(refused, Err(ShelfError::Name(_))), "{name}: {refused:?}");
        assert!(matches!(home.shelf.find(name), Err(ShelfError::NotThere { .. })), "{name}");
        assert!(matches!(home.shelf.remove(name), Err(ShelfError::NotThere { .. })), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_opened() {
    let home = Home::new();
    let pipe = home.folder.path().join("pipe.gguf");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    for path in [pipe, home.folder.path().to_owned(), home.folder.path().join("nowhere")] {
        let refused = home.add(&[path], None, Place::Shelf);
        assert!(matches!(refused, Err(ShelfError::Io { verb: "opened", .. })), "{refused:?}");
    }
    // A link that lies where a part is to be written leads nowhere.
    fs::create_dir_all(home.shelf.folder()).unwrap();
    std::os::unix::fs::symlink(home.folder.path().join("victim"), home.shelf.part("a")).unwrap();
    let file = home.write("a.gguf", &Gguf::small().bytes());
    assert!(home.add(&[file], None, Place::Shelf).is_err());
    assert!(!home.folder.path().join("victim").exists());
}

#[test]
fn a_name_of_the_catalogue_is_for_that_model_alone() {
    let home = Home::new();
    let file = home.write("qwen2.5-coder-0.5b.gguf", &Gguf::small().bytes());
    let row = "qwen2.5-coder-0.5b".to_owned();
    for (name, place) in [(None, Place::Shelf), (Some(row.as_str()), Place::Here)] {
        assert_eq!(home.add(std::slice::from_ref(&file), name, place), Err(ShelfError::Reserved(row.clone())));
    }
    assert!(home.names().is_empty());
    assert_eq!(home.add(&[file], Some("mine"), Place::Shelf).unwrap().kept.name, "mine");
}

#[test]
fn a_file_that_is_changed_while_it_is_read_is_not_believed_in_its_place() {
    let home = Home::new();
    let bytes = Gguf::small().bytes();
    let files = [home.write("a.gguf", &bytes)];
    let (now, free_bytes) = (Timestamp::from_seconds(0), None);
    let adding = Adding { files: &files, name: None, place: Place::Here, free_bytes, now };
    let mut change = |done, all| {
        if done == all {
            fs::write(&files[0], vec![b'x'; bytes.len()]).unwrap();
            touch(&files[0], 1_900_000_000);
        }
    };
    let changed = home.shelf.add(&adding, &mut change, &CancellationToken::new());
    assert!(matches!(changed, Err(ShelfError::Changed { .. })), "{changed:?}");
    assert!(home.names().is_empty());
}

#[test]
fn what_is_removed_while_it_is_read_does_not_come_back() {
    let home = Home::new();
    let kept = home.add(&[home.write("a.gguf", &Gguf::small().bytes())], None, Place::Shelf).unwrap().kept;
    touch(&kept.file, 1_700_000_000);
    let mut remove = |done, all| {
        if done == all {
            home.shelf.remove("a").unwrap();
        }
    };
    home.shelf.verify(&kept, &mut remove, &CancellationToken::new()).unwrap();
    assert!(home.names().is_empty(), "{:?}", home.names());
}

#[test]
fn of_two_that_take_a_name_the_first_has_it() {
    let home = Home::new();
    let (bytes, mut is_taken) = (Gguf::small().bytes(), false);
    let files = [home.write("a.gguf", &bytes)];
    let other = [home.write("b.gguf", &Gguf::small().says("x", "y").bytes())];
    let (now, free_bytes) = (Timestamp::from_seconds(0), None);
    let adding = Adding { files: &files, name: None, place: Place::Shelf, free_bytes, now };
    let mut take = |done, _| {
        if done > bytes.len() as u64 && !is_taken {
            home.add(&other, Some("a"), Place::Here).unwrap();
            is_taken = true;
        }
    };
    let second = home.shelf.add(&adding, &mut take, &CancellationToken::new());
    assert_eq!(second, Err(ShelfError::Taken("a".into())));
    assert_eq!(home.names(), ["a.toml"]);
    assert!(home.shelf.find("a").unwrap().is_in_place);
}

#[cfg(unix)]
#[test]
fn a_part_that_was_settled_meanwhile_is_not_taken_for_one() {
    let home = Home::new();
    fs::create_dir_all(home.shelf.folder()).unwrap();
    let path = home.shelf.part("a");
    let open = || fs::OpenOptions::new().create(true).append(true).open(&path).unwrap();
    assert!(disk::lock(open(), &path).unwrap().is_some());
    let late = open();
    fs::rename(&path, home.shelf.folder().join("a.gguf")).unwrap();
    assert!(disk::lock(late.try_clone().unwrap(), &path).unwrap().is_none(), "its name is gone");
    late.unlock().unwrap();
    let _next = open();
    assert!(disk::lock(late, &path).unwrap().is_none(), "its name is another's");
}

#[test]
fn what_a_crash_has_left_is_removed_by_its_name() {
    let home = Home::new();
    let file = home.write("a.gguf", &Gguf::small().bytes());
    let left: [&[&str]; 4] = [&["a.gguf"], &["a.part"], &["a.part", "a.part.json"], &["a.gguf", "a.part.json"]];
    for left in left {
        fs::create_dir_all(home.shelf.folder()).unwrap();
        for name in left {
            fs::write(home.shelf.folder().join(name), b"GGUF").unwrap();
        }
        home.shelf.remove("a").unwrap();
        assert!(home.names().is_empty(), "{left:?}: {:?}", home.names());
    }
    for gone in ["a.gguf", "a.part.json"] {
        home.add(std::slice::from_ref(&file), None, Place::Shelf).unwrap();
        fs::write(home.shelf.folder().join("a.part.json"), b"{}").unwrap();
        fs::remove_file(home.shelf.folder().join(gone)).unwrap();
        home.shelf.remove("a").unwrap();
        assert!(home.names().is_empty(), "{gone}: {:?}", home.names());
    }
}

#[cfg(unix)]
#[test]
fn what_is_written_down_is_written_through_nothing_that_lies_in_its_way() {
    let home = Home::new();
    fs::create_dir_all(home.shelf.folder()).unwrap();
    let (victim, way) = (home.write("victim", b"mine"), home.shelf.folder().join("a.toml.part"));
    std::os::unix::fs::symlink(&victim, &way).unwrap();
    let file = home.write("a.gguf", &Gguf::small().bytes());
    home.add(std::slice::from_ref(&file), None, Place::Shelf).unwrap();
    assert_eq!((fs::read(&victim).unwrap(), home.names().len()), (b"mine".to_vec(), 2));
    home.shelf.remove("a").unwrap();
    for name in [&way, &home.shelf.part("b")] {
        rustix::fs::mknodat(rustix::fs::CWD, name, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    }
    home.add(std::slice::from_ref(&file), None, Place::Shelf).unwrap();
    home.shelf.remove("a").unwrap();
    let refused = home.add(std::slice::from_ref(&file), Some("b"), Place::Shelf);
    assert!(matches!(refused, Err(ShelfError::Io { verb: "written", .. })), "{refused:?}");
    // What cannot be written leaves nothing.
    fs::create_dir_all(home.shelf.folder().join("c.gguf/x")).unwrap();
    assert!(home.add(&[file], Some("c"), Place::Shelf).is_err());
    assert_eq!(home.names(), ["b.part", "c.gguf"]);
}

#[test]
fn a_model_that_another_process_removes_meanwhile_is_not_broken() {
    let home = Home::new();
    let file = home.write("small.gguf", &Gguf::small().bytes());
    home.add(&[file], Some("small"), Place::Here).unwrap();
    let (record, aside) = (home.shelf.folder().join("small.toml"), home.shelf.folder().join("small.aside"));
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                fs::rename(&record, &aside).unwrap();
                fs::rename(&aside, &record).unwrap();
            }
        });
        let broken = (0..20_000).map(|_| home.shelf.list().unwrap().broken).find(|broken| !broken.is_empty());
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(broken.is_none(), "{broken:?}");
    });
}
