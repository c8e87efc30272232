//! What reads every note and follows every link, as whole processes: `check`, `links`, `facts`, and a rename.

use std::path::Path;
use std::process::Command;

use crate::measure::{head, in_turns, note, shown};
use crate::process::memdir;
use crate::scan::{peak, run};
use crate::vaults;

/// Times `check` and its kin; without a baseline, since no other program does the same.
pub(crate) fn webs() {
    head("the web of notes, whole process; no baseline");
    for (count, rounds) in [(10_000, 11), (100_000, 5)] {
        let folder = vaults::vault(count);
        for name in ["check", "links", "facts"] {
            let command = || {
                let mut command = memdir(name, &folder);
                command.arg("--json");
                command
            };
            let times = in_turns(rounds, vec![Box::new(|| run(&mut command()))]);
            note(&format!("{name}, {count} notes"), &shown(times.first().copied().unwrap_or_default()));
            note(&format!("{name}, {count} notes, peak memory"), &peak(command()));
        }
        let times = in_turns(rounds, vec![Box::new(|| run(&mut rename(&folder)))]);
        note(
            &format!("a rename and its links, planned, {count} notes"),
            &shown(times.first().copied().unwrap_or_default()),
        );
    }
}

/// A rename that is only shown.
fn rename(folder: &Path) -> Command {
    let turn = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rename.txt");
    let text = r#"<actions>[{"action":"rename_file","path":"topics/t000/note-000000.md","new_path":"topics/other.md"}]</actions>"#;
    std::fs::write(&turn, text).expect("the turn is written");
    let mut command = Command::new("sh");
    let memdir = env!("CARGO_BIN_EXE_memdir");
    command.args(["-c", r#""$1" exec --json --dry-run --memory "$2" < "$3""#, "sh", memdir]).arg(folder).arg(turn);
    command
}
