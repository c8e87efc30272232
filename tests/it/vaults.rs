//! Links in real vaults: `MEMDIR_DATA` names a folder with `vaults/`, `memories/` and, beside each, what an independent
//! reader says of its links. Without it the renames run on the memory of `examples/` alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use memdir_core::path::MemoryPath;
use memdir_note::{Note, Seen, Targets, Web};
use serde_json::{Value, json};

use crate::support::{Env, files};

fn data() -> Option<PathBuf> {
    std::env::var_os("MEMDIR_DATA").map(PathBuf::from)
}

/// The notes and other files of a folder that paths can say, with their text where they are notes.
fn notes(folder: &Path) -> BTreeMap<MemoryPath, Option<String>> {
    let all = files(folder).into_iter().filter_map(|(name, bytes)| Some((MemoryPath::parse(&name).ok()?, bytes)));
    all.map(|(path, bytes)| {
        let text = path.is_note().then(|| String::from_utf8(bytes).ok()).flatten();
        (path, text)
    })
    .collect()
}

/// Links that the other reader does not see, though CommonMark does: it takes a line of backticks inside `<pre>` for the
/// start of a block of code, which goes on to the end of the note.
const BESIDES: &[(&str, &str)] = &[("Formatting/Diagram.md", "Format your notes")];

/// A link as the expected file has it: source, target, subpath, kind.
type Key = (String, String, String, String);

#[test]
fn links_are_what_an_independent_reader_says() {
    let Some(data) = data() else {
        eprintln!("not asked for: MEMDIR_DATA is not set");
        return;
    };
    let mut failures = Vec::new();
    for name in ["vaults/kepano", "vaults/sandbox", "memories"] {
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let key = |link: &Value| -> Key {
            (text(link, "source"), text(link, "target"), text(link, "subpath"), text(link, "kind"))
        };
        let expected = fs::read_to_string(data.join(format!("{name}-links-expected.json"))).unwrap();
        let expected: Vec<Value> = serde_json::from_str(&expected).unwrap();
        let expected: BTreeMap<Key, &Value> = expected.iter().map(|link| (key(link), link)).collect();
        let web = notes(&data.join(name)).into_iter().map(|(path, text)| (path, text.map(|text| Seen::of(&text))));
        let found = serde_json::to_value(Web::new(web.collect()).links().links).unwrap();
        let found: BTreeMap<Key, &Value> = found.as_array().unwrap().iter().map(|link| (key(link), link)).collect();
        let (mut right, mut scored, mut others_right, mut others) = (0, 0, 0, 0);
        for (key, link) in &expected {
            let is_right = found
                .get(key)
                .is_some_and(|found| found["resolved"] == link["resolved"] && found["status"] == link["status"]);
            if link["scored"] == true {
                scored += 1;
                right += usize::from(is_right);
            } else {
                others += 1;
                others_right += usize::from(is_right);
            }
            if !is_right {
                eprintln!("{name}: expected {link}\n    found {:?}", found.get(key).map(ToString::to_string));
            }
        }
        let more: Vec<_> = found.keys().filter(|key| !expected.contains_key(*key)).collect();
        more.iter().for_each(|key| eprintln!("{name}: found besides {key:?}"));
        eprintln!(
            "{name}: {right} of {scored} scored links, {others_right} of {others} others, {} besides",
            more.len()
        );
        let is_known = |key: &&&Key| BESIDES.contains(&(key.0.as_str(), key.1.as_str()));
        if right * 100 < scored * 98 || !more.iter().all(|key| is_known(&key)) {
            failures.push(name);
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}

/// For each note under the name it will have: where each link leads, and its text without the paths of its links.
fn led(
    folder: &Path,
    called: impl Fn(&MemoryPath) -> MemoryPath,
) -> BTreeMap<MemoryPath, (Vec<Option<MemoryPath>>, String)> {
    let notes = notes(folder);
    let targets = Targets::new(notes.keys().cloned());
    let texts = notes.iter().filter_map(|(path, text)| Some((path, text.as_ref()?)));
    texts
        .map(|(path, text)| {
            let links = Note::parse(text).links();
            let led = links.iter().map(|link| targets.best(&link.path, link.syntax, Some(path)).map(&called)).collect();
            let mut rest = text.clone();
            links.iter().rev().for_each(|link| rest.replace_range(link.target.clone(), ""));
            (called(path), (led, rest))
        })
        .collect()
}

/// Numbers that look random and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// Something to rename, and a new name for it: another folder, another stem, or the stem of another note.
fn some_rename(all: &[MemoryPath], chance: &mut Chance, round: usize) -> (MemoryPath, MemoryPath) {
    let folders: Vec<MemoryPath> =
        all.iter().flat_map(MemoryPath::ancestors).collect::<BTreeSet<_>>().into_iter().collect();
    let target_folder = match chance.below(4) {
        0 => String::new(),
        1 => format!("New folder {}/", chance.below(4)),
        _ if folders.is_empty() => String::new(),
        _ => format!("{}/", folders[chance.below(folders.len())]),
    };
    if chance.below(4) == 0 && !folders.is_empty() {
        let from = folders[chance.below(folders.len())].clone();
        return (from, MemoryPath::parse(&format!("{target_folder}Moved {round}")).unwrap());
    }
    let from = all[chance.below(all.len())].clone();
    let extension = from.name().rsplit_once('.').map_or("", |(_, extension)| extension);
    let name = match chance.below(3) {
        0 => from.name().to_owned(),
        1 => format!("Renamed (no. {round}).{extension}"),
        _ => format!("{}.{extension}", all[chance.below(all.len())].stem()),
    };
    (from, MemoryPath::parse(&format!("{target_folder}{name}")).unwrap())
}

/// Renames a hundred times; says how many links were rewritten, and undoes everything.
fn rename_and_undo(folder: &Path) -> (usize, usize) {
    let env = Env::new().quick();
    let visible = |all: BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Vec<u8>> {
        all.into_iter().filter(|(path, _)| !path.starts_with('.')).collect()
    };
    let start = visible(files(folder));
    start.iter().for_each(|(path, bytes)| env.write(path, bytes));
    let (mut chance, mut batches, mut rewritten) = (Chance(20_261_122), Vec::new(), 0);
    let mut round = 0;
    while batches.len() < 100 {
        round += 1;
        assert!(round < 2000, "too few renames succeed");
        let all: Vec<MemoryPath> =
            notes(env.memory()).into_keys().filter(|path| !path.as_str().starts_with('.')).collect();
        let (from, to) = some_rename(&all, &mut chance, round);
        let called = |path: &MemoryPath| path.rebased(&from, &to).unwrap_or_else(|| path.clone());
        let before = led(env.memory(), called);
        let report = env.exec(&json!([{"action": "rename_file", "path": from, "new_path": to}]));
        if report["actions"][0]["ok"] == false || report["batch"].is_null() {
            continue;
        }
        let after = led(env.memory(), MemoryPath::clone);
        assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
        for (path, (led, rest)) in &before {
            let (leads, now) = &after[path];
            assert_eq!(rest, now, "{from} → {to}: bytes outside links of {path}");
            for (led, leads) in led.iter().zip(leads) {
                assert!(led.is_none() || led == leads, "{from} → {to}: a link in {path} led to {led:?}, now {leads:?}");
            }
        }
        rewritten += report["changed"].as_array().unwrap().len();
        batches.push(report["batch"].as_u64().unwrap());
    }
    for batch in batches.iter().rev() {
        let undone = env.ask(&["undo", &batch.to_string()]);
        assert_eq!(undone.code, 0, "{undone:?}");
    }
    assert!(visible(files(env.memory())) == start, "undo gives the tree back byte for byte");
    (batches.len(), rewritten)
}

#[test]
fn a_hundred_renames_leave_every_link_where_it_led() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/memory");
    let mut folders = vec![example];
    if let Some(data) = data() {
        folders.extend([data.join("vaults/kepano"), data.join("vaults/sandbox"), data.join("memories")]);
    }
    for folder in folders {
        let (renames, changed) = rename_and_undo(&folder);
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        eprintln!("{name}: {renames} renames, {changed} paths changed");
    }
}
