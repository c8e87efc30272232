//! What is measured in this process: reads, durable updates, lists.

use std::fs::{self, File, OpenOptions};
use std::hint::black_box;
use std::io::{self, Write};
use std::path::Path;

use memdir_core::path::MemoryPath;
use memdir_dialect::parse;
use rustix::fs::{Mode, OFlags, fstat, openat};

use crate::measure::{Bar, each, head, in_turns, once, row};
use crate::vaults;

const LIMIT: u64 = 64 << 20;

/// The note read, alone and through the engine.
pub(crate) fn reads() {
    head("reads in process; baseline: openat + fstat + read + close");
    for name in ["note.md", "people/friends/note.md"] {
        read(name);
    }
}

fn read(name: &str) {
    let folder = vaults::fresh("reads");
    fs::create_dir_all(folder.join("people/friends")).expect("a folder can be made");
    fs::write(folder.join(name), vaults::text(99)).expect("a note can be written");
    let engine = vaults::engine(&folder);
    // The first write makes `.memdir`, so that reads are audited.
    let _ = engine.conclude(engine.propose(parse(&write(0)), vaults::caller()));
    let vault = vaults::open(&folder);
    let root = File::open(&folder).expect("the folder can be opened");
    let path = MemoryPath::parse(name).expect("a plain path");
    let parsed = parse(format!(r#"<actions>[{{"action":"read_file","path":"{name}"}}]</actions>"#).as_bytes());
    let times = in_turns(
        60,
        vec![
            Box::new(|| each(200, || drop(black_box(bare_read(&root, name).expect("it can be read"))))),
            Box::new(|| each(200, || drop(black_box(vault.read_bytes(&path, LIMIT).expect("it can be read"))))),
            Box::new(|| {
                let mut ready: Vec<_> = (0..200).map(|_| (parsed.clone(), vaults::caller())).collect();
                each(200, || {
                    let (parsed, caller) = ready.pop().expect("as many as calls");
                    let report = engine.conclude(engine.propose(parsed, caller));
                    assert!(report.actions.iter().all(|outcome| outcome.result.is_ok()), "a note was not read");
                    drop(black_box(report));
                })
            }),
        ],
    );
    let [bare, ours, engine] = times.as_slice() else { return };
    row(&format!("read {name}, vault"), *ours, *bare, Bar::Most(1.2));
    row(&format!("read {name}, propose and conclude, audited"), *engine, *bare, Bar::Most(8.0));
}

fn bare_read(root: &File, name: &str) -> io::Result<Vec<u8>> {
    let file = openat(root, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let size = fstat(&file)?.st_size;
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
    let read = rustix::io::read(&file, bytes.as_mut_slice())?;
    bytes.truncate(read);
    Ok(bytes)
}

/// One update, and ten in a batch.
pub(crate) fn updates() {
    head("durable updates in process; baseline: temp, write, fsync, rename over, fsync of the folder, for each note");
    update(1, 60, Bar::Most(2.0));
    update(10, 40, Bar::Most(0.7));
}

fn update(count: usize, rounds: usize, bar: Bar) {
    let (ours, bare) = (vaults::fresh("updates"), vaults::fresh("updates-bare"));
    let names: Vec<String> = (0..count).map(|number| format!("note-{number}.md")).collect();
    for (number, name) in names.iter().enumerate() {
        for folder in [&ours, &bare] {
            fs::write(folder.join(name), vaults::text(number)).expect("a note can be written");
        }
    }
    let engine = vaults::engine(&ours);
    let text = vaults::text(0);
    let mut visits = 0;
    let times = in_turns(
        rounds,
        vec![
            Box::new(|| {
                let parsed = parse(&visit(&names, visits));
                visits += 1;
                let caller = vaults::caller();
                once(|| {
                    let report = engine.conclude(engine.propose(parsed, caller));
                    assert!(report.actions.iter().all(|outcome| outcome.result.is_ok()), "a note was not updated");
                })
            }),
            Box::new(|| {
                once(|| names.iter().for_each(|name| bare_update(&bare, name, &text).expect("it can be written")))
            }),
        ],
    );
    let [engine, bare] = times.as_slice() else { return };
    let what = if count == 1 { "one update".to_owned() } else { format!("{count} updates in one batch") };
    row(&format!("{what}, with history and audit"), *engine, *bare, bar);
}

/// A batch that counts one visit more in each of some notes.
pub(crate) fn visit(names: &[String], visits: usize) -> Vec<u8> {
    let (old, new) = (format!("- visits: {visits}\\n"), format!("- visits: {}\\n", visits + 1));
    let calls = names.iter().map(|name| {
        format!(r#"{{"action":"update_file","path":"{name}","old_content":"{old}","new_content":"{new}"}}"#)
    });
    format!("<actions>[{}]</actions>", calls.collect::<Vec<_>>().join(",\n")).into_bytes()
}

/// A batch that writes one note, another one for each number.
pub(crate) fn write(number: usize) -> Vec<u8> {
    let call = format!(r##"{{"action":"write_file","path":"made.md","content":"# Made\n\n- times: {number}\n"}}"##);
    format!("<actions>[{call}]</actions>").into_bytes()
}

/// What any careful program does to replace a file.
fn bare_update(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let (path, temporary) = (folder.join(name), folder.join(format!("{name}.tmp")));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, &path)?;
    File::open(folder)?.sync_all()
}

/// A list of all notes.
pub(crate) fn lists() {
    head("list_files, propose and conclude; baseline: the same folders with readdir and a stat of each name");
    for (count, rounds) in [(1_000, 30), (10_000, 30), (100_000, 5)] {
        let folder = vaults::vault(count);
        let engine = vaults::engine(&folder);
        let parsed = parse(br#"<actions>[{"action":"list_files"}]</actions>"#);
        let times = in_turns(
            rounds,
            vec![
                Box::new(|| {
                    let (parsed, caller) = (parsed.clone(), vaults::caller());
                    once(|| drop(black_box(engine.conclude(engine.propose(parsed, caller)))))
                }),
                Box::new(|| once(|| assert_eq!(bare_list(&folder).expect("it can be listed"), count))),
            ],
        );
        let [ours, bare] = times.as_slice() else { return };
        row(&format!("list_files, {count} notes"), *ours, *bare, Bar::None);
    }
}

fn bare_list(folder: &Path) -> io::Result<usize> {
    let mut notes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        notes += if entry.metadata()?.is_dir() { bare_list(&entry.path())? } else { 1 };
    }
    Ok(notes)
}
