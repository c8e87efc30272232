//! What a program does with a model's turn: run it, give the answer back, and take it back again.
//!
//! `cargo run --example turn` works in a new folder, `cargo run --example turn -- FOLDER` in one of yours.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::error::Error;
use std::path::{Path, PathBuf};

use memdir::Memory;

const TURN: &str = r##"<actions>[
  {"action": "create_file", "path": "people/ana.md", "content": "# Ana\n\n- works at: Helio\n"}
]</actions>
<reply>I have noted where Ana works.</reply>"##;

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    turn(&std::env::args_os().nth(1).map_or_else(|| scratch.path().to_owned(), PathBuf::from))
}

fn turn(folder: &Path) -> Result<(), Box<dyn Error>> {
    let memory = Memory::options().without_index().open(folder)?;

    let answer = memory.run(TURN);
    println!("to the person: {:?}", answer.report.reply.unwrap_or_default());
    println!("to the model:  {:?}", answer.text);

    for hit in memory.search("Where does Ana work?")?.hits {
        println!("found: {:?} says {:?}", hit.path.as_str(), hit.snippet);
    }
    println!("undone: {:?}", memory.undo()?.changed);
    Ok(())
}

#[test]
fn it_runs() {
    turn(tempfile::tempdir().unwrap().path()).unwrap();
}
