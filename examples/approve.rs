//! A memory in which every change waits for a yes: what a program shows the person, and what it does then.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::error::Error;

use memdir::{Memory, Mode};

const TURN: &str =
    r##"<actions>[{"action": "create_file", "path": "user.md", "content": "# Ada\n\n- city: Porto\n"}]</actions>"##;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let memory = Memory::options().without_index().client("example").mode(Mode::All).open(folder.path())?;

    let answer = memory.run(TURN);
    assert!(answer.report.changed.is_empty(), "nothing is stored before the yes");

    for proposal in memory.waiting()? {
        println!("{:?} wants this, since {:?}:", proposal.client.as_deref().unwrap_or("?"), proposal.reason);
        for line in proposal.diff.lines() {
            println!("{line:?}");
        }
        let change = memory.approve(&proposal)?;
        println!("{:?}", change.receipt.unwrap_or_default());
    }
    println!("{:?}", memory.read("user.md")?);
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
