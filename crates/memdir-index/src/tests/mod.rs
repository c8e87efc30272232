#![expect(clippy::disallowed_methods, reason = "tests damage the file, and look at it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{Index, IndexError, NoteRecord, file};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_note::stem::Stem;
use memdir_plan::{Stamp, Swept};
use memdir_rank::{Number, Source};

mod around;
mod damage;
mod points;
mod recall;
mod share;
mod source;

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

fn swept(at: &str, size: u64) -> Swept {
    Swept { path: path(at), is_link: false, stamp: Stamp { size, modified: -5, changed: 7, inode: u64::MAX } }
}

fn link(at: &str) -> Swept {
    Swept { is_link: true, ..swept(at, 1) }
}

/// A folder for an index, and where it goes.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("index.sqlite");
    (folder, file)
}

/// A complete index of these notes; what does not end in `.md` is no note.
fn index(notes: &[(&str, &str)]) -> Index {
    let mut index = Index::in_memory().unwrap();
    fill(&mut index, notes);
    index
}

fn fill(index: &mut Index, notes: &[(&str, &str)]) {
    let mut writing = index.write().unwrap();
    for (at, text) in notes {
        let swept = swept(at, text.len() as u64);
        let record = swept.path.is_note().then(|| NoteRecord::of(&swept.path, text, Vec::new()));
        writing.put(&swept, record.as_ref()).unwrap();
    }
    writing.set_complete(true).unwrap();
    writing.commit().unwrap();
}

/// All that can be asked of an index, with paths for numbers. `words` and `names` are what is asked for.
#[derive(Debug, PartialEq)]
struct Dump {
    status: crate::Status,
    known: Vec<Swept>,
    each: Vec<crate::IndexedFile>,
    notes: usize,
    holding: Vec<usize>,
    matching: Vec<BTreeMap<MemoryPath, String>>,
    called: Vec<BTreeMap<MemoryPath, ()>>,
    linking: Vec<BTreeMap<MemoryPath, ()>>,
    cards: BTreeMap<MemoryPath, memdir_note::Card>,
    around: Vec<Option<memdir_rank::Files>>,
    spelled: Vec<Option<Stem>>,
}

fn dump(index: &Index, words: &[&str], names: &[&str], paths: &[MemoryPath]) -> Result<Dump, String> {
    let told = |error: memdir_rank::SourceError| error.to_string();
    let at = |number: Number| index.path(number).map_err(told)?.ok_or_else(|| "a number of no note".to_owned());
    let mut each = Vec::new();
    index.each(true, &mut |kept| each.push(kept)).map_err(|error| error.to_string())?;
    let mut matching = Vec::new();
    for word in words {
        let found = index.matching(&Stem::forms(word)).map_err(told)?;
        let found = found.into_iter().map(|(number, score)| Ok((at(number)?, format!("{score:?}"))));
        matching.push(found.collect::<Result<_, String>>()?);
    }
    let of_names = |ask: &dyn Fn(&str) -> Result<Vec<Number>, memdir_rank::SourceError>| {
        let each = |name: &&str| ask(name).map_err(told)?.into_iter().map(|number| Ok((at(number)?, ()))).collect();
        names.iter().map(each).collect::<Result<Vec<_>, String>>()
    };
    let mut cards = BTreeMap::new();
    for path in paths {
        if let Some(number) = index.number(path).map_err(told)? {
            cards.extend(index.card(number).map_err(told)?);
        }
    }
    Ok(Dump {
        status: index.status().map_err(|error| error.to_string())?,
        known: index.known().map_err(|error| error.to_string())?,
        each,
        notes: index.notes().map_err(told)?,
        holding: words.iter().map(|word| index.holding(&Stem::forms(word))).collect::<Result<_, _>>().map_err(told)?,
        matching,
        called: of_names(&|name| index.called(name, 1000))?,
        linking: of_names(&|name| index.linking(name, 1000))?,
        cards,
        around: paths.iter().map(|path| index.around(path)).collect::<Result<_, _>>().map_err(told)?,
        spelled: words.iter().map(|word| index.spelled_like(word)).collect::<Result<_, _>>().map_err(told)?,
    })
}

/// Whoever changes what is kept of a note sees this red, and has to raise `VERSION` in `file.rs`, so that old indexes
/// are not taken for new ones. The notes are in several languages, since what is kept of a word depends on that of its note.
#[test]
fn another_record_is_another_version() {
    let english = "---\ntitle: Zoë's houses\naliases: [Z]\ntags: [family]\n---\n# Running\n\n- works at: [[Acme_Corp]]\n\nShe \
                relies on conditional 北京市 ⒈ #travel\n";
    let notes = [
        english,
        "Die Häuser der Städte wurden von fleißigen Handwerkern mit großer Sorgfalt gebaut.\n",
        "Les maisons de la ville ont été construites par des ouvriers qui travaillaient lentement.\n",
        "Дома в городе были построены рабочими, которые работали медленно.\n",
        "De huizen van de stad werden door hardwerkende arbeiders gebouwd.\n",
        "Husen i staden byggdes av flitiga arbetare som arbetade långsamt.\n",
        "two houses\n",
        "zwei Häuser\n",
        "dos casas\n",
    ];
    let mut parts = Vec::new();
    for text in notes {
        let record = NoteRecord::of(&path("people/Zoe.md"), text, vec![(2, "a script")]);
        let text = record.text.unwrap();
        parts.extend([record.look, text.card, format!("{:?}{:?}", text.names, text.links).into_bytes()]);
        parts.push(text.words.into_bytes());
    }
    let bytes: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let shown = Digest::of_parts(&bytes).to_string();
    assert_eq!((file::VERSION, shown.get(7..23)), (18, Some("123ed25c70fcddec")));
}

#[test]
fn what_is_put_is_kept() {
    let mut index = Index::in_memory().unwrap();
    let (text, bytes) = ("# Ada\n\n[[b]]\n", b"\xff".as_slice());
    let note = NoteRecord::of(&path("a.md"), text, vec![(1, "a script")]);
    let mut writing = index.write().unwrap();
    writing.put(&swept("a.md", 3), Some(&note)).unwrap();
    writing.put(&swept("b.md", 1), Some(&NoteRecord::of_bytes(bytes))).unwrap();
    writing.put(&swept("c.png", 9), None).unwrap();
    writing.put(&link("d.md"), Some(&NoteRecord::of(&path("d.md"), text, Vec::new()))).unwrap();
    writing.put(&swept("e.md", 1 << 40), Some(&NoteRecord::of_look(&memdir_check::Look::of_size(1 << 40)))).unwrap();
    writing.set_batch(12).unwrap();
    writing.set_complete(true).unwrap();
    writing.commit().unwrap();

    let status = index.status().unwrap();
    assert_eq!((status.is_complete, status.batch, status.files, status.notes), (true, 12, 5, 3));
    let known = index.known().unwrap();
    assert_eq!(known[0], swept("a.md", 3));
    assert_eq!(
        known.iter().map(|swept| swept.path.as_str()).collect::<Vec<_>>(),
        ["a.md", "b.md", "c.png", "d.md", "e.md"]
    );
    let mut kept = Vec::new();
    index.each(true, &mut |file| kept.push(file)).unwrap();
    let shape: Vec<_> = kept.iter().map(|file| (file.is_link, file.seen.is_some(), file.look.is_some())).collect();
    let expected =
        [(false, true, true), (false, false, true), (false, false, false), (true, true, true), (false, false, true)];
    assert_eq!(shape, expected);
    let read = memdir_note::Note::parse(text);
    let card = memdir_note::Card::of(&read);
    assert_eq!(kept[0].seen.as_ref(), Some(&card.seen));
    assert_eq!(index.card(index.number(&path("a.md")).unwrap().unwrap()).unwrap(), Some((path("a.md"), card)));
    assert_eq!(kept[0].look, Some(memdir_check::Look::of(text, &read, vec![(1, "a script")])));
    let mut bare = Vec::new();
    index.each(false, &mut |file| bare.push(file)).unwrap();
    kept.iter_mut().for_each(|file| file.look = None);
    assert_eq!(bare, kept, "links are read without what a check looks at");
    assert_eq!(index.notes().unwrap(), 1, "a name that leads to a note is found under the name of that");
    assert_eq!((index.holding(&Stem::forms("ada")).unwrap(), index.called("ada", 9).unwrap().len()), (1, 1));
    assert_eq!(index.linking("b", 9).unwrap().len(), 1);
    assert_eq!(index.number(&path("d.md")).unwrap(), None);
    assert_eq!(index.number(&path("b.md")).unwrap(), None);
}

#[test]
fn only_the_stamp_changes_with_the_same_bytes() {
    let mut index = index(&[("a.md", "one")]);
    let number = index.number(&path("a.md")).unwrap();
    let mut writing = index.write().unwrap();
    // What the record says besides is not looked at.
    let mut record = NoteRecord::of(&path("a.md"), "one", Vec::new());
    record.text.as_mut().unwrap().names.insert("other".to_owned());
    writing.put(&swept("a.md", 77), Some(&record)).unwrap();
    assert_eq!(writing.called("other", 9).unwrap(), [] as [Number; 0]);
    assert_eq!((writing.known().unwrap()[0].stamp.size, writing.number(&path("a.md")).unwrap()), (77, number));
    // The same bytes under a link are no note of their own.
    writing.put(&link("a.md"), Some(&record)).unwrap();
    assert_eq!((writing.notes().unwrap(), writing.holding(&Stem::forms("one")).unwrap()), (0, 0));
    writing.put(&swept("a.md", 1), None).unwrap();
    assert_eq!((writing.status().unwrap().notes, writing.linking("b", 9).unwrap().len()), (0, 0));
}

#[test]
fn a_folder_goes_with_what_is_in_it() {
    let mut index =
        index(&[("a/b/c.md", "one"), ("a/b.md", "one"), ("a/b-c/d.md", "one"), ("a/b0.md", "one"), ("x", "")]);
    let mut writing = index.write().unwrap();
    writing.remove(&path("a/b")).unwrap();
    writing.remove(&path("x")).unwrap();
    writing.remove(&path("nothing")).unwrap();
    writing.commit().unwrap();
    let left: Vec<_> = index.known().unwrap().into_iter().map(|swept| swept.path.to_string()).collect();
    assert_eq!(left, ["a/b-c/d.md", "a/b.md", "a/b0.md"]);
    assert_eq!(
        (index.status().unwrap().files, index.notes().unwrap(), index.holding(&Stem::forms("one")).unwrap()),
        (3, 3, 3)
    );
    assert_eq!(index.called("c", 9).unwrap(), [] as [Number; 0]);
}

#[test]
fn no_link_of_the_file_is_followed() {
    let (folder, file) = place();
    let elsewhere = folder.path().join("elsewhere");
    std::fs::write(&elsewhere, "keep me").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    let mut index = Index::open(&file, None).unwrap();
    fill(&mut index, &[("a.md", "one")]);
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "keep me");
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, file) = place();
    let mut index = Index::open(&file, None).unwrap();
    fill(&mut index, &[("a.md", "one")]);
    let entries: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();
    assert!(entries.len() >= 3, "{entries:?}");
    for entry in entries {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
    }
}

#[track_caller]
fn is_empty(index: &Index) {
    assert_eq!(index.status().unwrap(), crate::Status::default());
    assert_eq!(index.known().unwrap(), []);
}

fn damaged(error: &IndexError) -> bool {
    matches!(error, IndexError::Damaged(_))
}

fn bytes(file: &Path) -> Vec<u8> {
    std::fs::read(file).unwrap()
}
