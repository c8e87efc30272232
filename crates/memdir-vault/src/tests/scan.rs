//! A scan gives what the way that [`Tree`] has for every memory gives.

use std::sync::Mutex;

use super::Env;
use crate::Vault;
use memdir_core::path::MemoryPath;
use memdir_core::report::Log;
use memdir_plan::{Image, Listing, Scan, Scanned, Stat, Tree, TreeError};

/// The vault with the scan that every [`Tree`] has.
struct Slow<'v>(&'v Vault);

impl Tree for Slow<'_> {
    type Whole = Self;

    fn whole(&self) -> &Self {
        self
    }

    fn stat(&self, path: &MemoryPath) -> Result<Option<Stat>, TreeError> {
        self.0.stat(path)
    }
    fn resolve(&self, path: &MemoryPath) -> Result<MemoryPath, TreeError> {
        self.0.resolve(path)
    }
    fn read(&self, path: &MemoryPath, limit: u64) -> Result<Image, TreeError> {
        self.0.read(path, limit)
    }
    fn list(&self, folder: Option<&MemoryPath>) -> Result<Listing, TreeError> {
        self.0.list(folder)
    }
    fn note_bytes(&self) -> Result<u64, TreeError> {
        self.0.note_bytes()
    }
    fn history(&self, path: &MemoryPath, limit: usize) -> Result<Log, TreeError> {
        self.0.history(path, limit)
    }
}

type Seen = Result<Vec<Scanned<Result<Vec<u8>, TreeError>>>, TreeError>;

fn seen(tree: &impl Tree, folder: Option<&str>) -> Seen {
    let folder = folder.map(path);
    let scan = Scan { folder: folder.as_ref(), limit: 3000, wants: &|path| path.is_note(), stop: &|| false };
    tree.scan(&scan, &|_, bytes| bytes.map(<[u8]>::to_vec))
}

#[track_caller]
fn check(vault: &Vault, folder: Option<&str>) -> usize {
    let fast = seen(vault, folder);
    assert_eq!(fast, seen(&Slow(vault), folder), "{folder:?}");
    fast.map_or(0, |found| found.len())
}

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

#[test]
fn a_scan_gives_what_listing_and_reading_give() {
    let env = Env::new(&[
        ("user.md", "- city: London\n"),
        ("empty.md", ""),
        ("picture.png", "x"),
        ("a-b/x.md", "before a/x in the order of paths"),
        ("a/x.md", "x"),
        (".obsidian/x.md", "hidden"),
        ("a/.hidden.md", "hidden"),
        (".memdir-1-0.tmp", "ours"),
        ("elsewhere/secret.md", "s"),
    ]);
    env.write("large.md", &"x".repeat(3001));
    env.write("just.md", &"x".repeat(3000));
    for number in 0..300 {
        env.write(&format!("many/n{number}.md"), &format!("note {number}"));
    }
    let deep = (0..200).map(|_| "d/").collect::<String>();
    env.write(&format!("{deep}bottom.md"), "deep");
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        use std::os::unix::fs::{PermissionsExt, symlink};

        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("x.md"), "outside").unwrap();
        let links = [
            ("../a/x.md", "a/inside.md"),
            ("many", "linked-folder"),
            ("nowhere.md", "dangling.md"),
            (".obsidian/x.md", "to-hidden.md"),
            ("loop.md", "loop.md"),
            (outside.path().join("x.md").to_str().unwrap(), "out.md"),
            (outside.path().to_str().unwrap(), "out"),
        ]
        .map(|(target, name)| (target.to_owned(), name));
        for (target, name) in &links {
            symlink(target, env.path().join(name)).unwrap();
        }
        std::fs::write(env.path().join(std::ffi::OsStr::from_bytes(b"no\xffutf8.md")), "x").unwrap();
        std::fs::write(env.path().join(" blank.md"), "x").unwrap();
        std::fs::write(env.path().join("line\nend.md"), "x").unwrap();
        let pipe = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, env.path().join("pipe.md"), rustix::fs::FileType::Fifo, pipe, 0).unwrap();
        for closed in ["picture.png", "elsewhere", "a/x.md"] {
            std::fs::set_permissions(env.path().join(closed), std::fs::Permissions::from_mode(0o0)).unwrap();
        }
        let vault = env.vault();
        let all = check(&vault, None);
        // 5 in the root, 2 in `a-b` and `a`, the link, `many`, the deep one; `elsewhere` where it can be read all the same.
        assert!(all == 309 || all == 310, "{all}");
        for folder in ["many", "linked-folder", "a", "nowhere", "user.md", "out", "loop.md", "elsewhere", "d/d"] {
            check(&vault, Some(folder));
        }
        std::fs::set_permissions(env.path().join("elsewhere"), std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    #[cfg(not(unix))]
    check(&env.vault(), None);
}

#[test]
fn every_file_is_looked_into_once() {
    let names: Vec<String> = (0..1000).map(|number| format!("f{}/n{number}.md", number % 7)).collect();
    let notes: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    let env = Env::new(&notes);
    let looked = Mutex::new(Vec::new());
    let scan = Scan { folder: None, limit: 1 << 20, wants: &|_| true, stop: &|| false };
    let found = env.vault().scan(&scan, &|path, bytes| {
        assert_eq!(bytes, Ok(path.as_str().as_bytes()));
        looked.lock().unwrap().push(path.clone());
    });
    let found: Vec<MemoryPath> = found.unwrap().into_iter().map(|file| file.path).collect();
    let mut looked = looked.into_inner().unwrap();
    looked.sort();
    assert_eq!((found.len(), &found), (1000, &looked));
}

#[test]
fn a_scan_stops_when_it_is_told_to() {
    let names: Vec<String> = (0..1000).map(|number| format!("f{}/n{number}.md", number % 7)).collect();
    let notes: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    let vault = Env::new(&notes);
    let vault = vault.vault();
    let looked = Mutex::new(0);
    let stop = || *looked.lock().unwrap() >= 100;
    let scan = Scan { folder: None, limit: 1 << 20, wants: &|_| true, stop: &stop };
    let stopped = vault.scan(&scan, &|_, _| *looked.lock().unwrap() += 1);
    assert_eq!(stopped, Err(TreeError::Stopped));
    assert!(*looked.lock().unwrap() < 120);
}
