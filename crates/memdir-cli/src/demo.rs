//! `memdir demo`: a memory with a story, to try every command on.
//!
//! The notes are those of `examples/memory`, the turns those of `examples/turns`, run as two assistants would run them.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::json;

use super::args::Global;
use super::config::Sources;
use super::output::Lines;
use super::stop::{Stop, usage};
use super::{init, open};
use memdir_core::report::{Report, Variables};
use memdir_core::shell;
use memdir_dialect as dialect;
use memdir_engine::Caller;
use memdir_policy::Mode;

/// The notes as they are before the story begins.
const NOTES: &[(&str, &str)] = &[
    ("user.md", include_str!("../../../examples/memory/user.md")),
    ("entities/folha_studio.md", include_str!("../../../examples/memory/entities/folha_studio.md")),
    ("entities/tomas_reis.md", include_str!("../../../examples/memory/entities/tomas_reis.md")),
];

/// What a person said to an assistant, and the text that its model wrote.
struct Scene {
    client: &'static str,
    said: &'static str,
    turn: &'static str,
    mode: Mode,
}

const STORY: &[Scene] = &[
    Scene {
        client: "claude",
        said: "I moved to Porto in November, and I bind books at home now.",
        turn: include_str!("../../../examples/turns/1-move.txt"),
        mode: Mode::Flag,
    },
    Scene {
        client: "claude",
        said: "My sister Ines lives in Berlin.",
        turn: include_str!("../../../examples/turns/2-new-person.txt"),
        mode: Mode::Flag,
    },
    Scene {
        client: "cursor",
        said: "Who do you know that is close to me?",
        turn: include_str!("../../../examples/turns/3-look-around.txt"),
        mode: Mode::Flag,
    },
    Scene {
        client: "cursor",
        said: "Give people a folder. Tomas has a double bass from 1921, and we have a cat now, Figo.",
        turn: include_str!("../../../examples/turns/4-tidy-up.txt"),
        mode: Mode::Flag,
    },
    Scene {
        client: "cursor",
        said: "My new number is +351 912 345 678.",
        turn: include_str!("../../../examples/turns/6-ask-first.txt"),
        mode: Mode::Ask,
    },
];

pub(super) fn run(global: &Global, dir: Option<PathBuf>) -> Result<u8, Stop> {
    if global.memory.is_some() {
        return Err(usage("`memdir demo` takes no `--memory`", "give the folder itself: `memdir demo DIR`").into());
    }
    let sources = Sources::read()?;
    let folder = dir.or_else(|| sources.home().map(|home| home.join("memdir-demo")));
    let folder = folder.ok_or_else(|| usage("this system names no home folder", "name one: `memdir demo DIR`"))?;
    memdir_host::make_folder(&folder)
        .map_err(|error| usage(format!("the folder cannot be made: {}", error.kind()), "name another"))?;
    let opened = open::join(open::locate(global, &sources, &folder)?)?;
    if opened.engine.tree(None, 1, None)?.total > 0 {
        let message = format!("{} is not empty", opened.root.display());
        return Err(usage(message, "name another folder, `memdir demo DIR`, or remove this one").into());
    }
    init::create(&opened, NOTES, &[])?;
    let mut reports = Vec::new();
    for scene in STORY {
        let report = play(&opened, scene);
        if !global.json {
            show(scene, &report)?;
        }
        reports.push(report);
    }
    let memory = opened.root.to_string_lossy();
    let (notes, waiting) = (opened.engine.every_note()?.len(), opened.engine.waiting()?.0.len());
    let batches: Vec<u64> = reports.iter().filter_map(|report| report.batch).collect();
    let made = json!({"memory": memory, "notes": notes, "batches": batches, "waiting": waiting});
    global.answer(&made, |stdout| {
        writeln!(stdout)?;
        stdout.line(format!("{notes} notes are in {memory}; nothing else was touched. Try them:"))?;
        writeln!(stdout)?;
        stdout.line(format!("    export MEMDIR={}", shell::quoted(&memory)))?;
        writeln!(stdout, "    memdir search \"where does my sister live\"")?;
        Ok(writeln!(stdout, "    memdir log\n    memdir pending\n    memdir undo")?)
    })
}

fn play(opened: &open::Opened, scene: &Scene) -> Report {
    let parsed = dialect::parse_as(scene.turn.as_bytes(), None, &Variables::default());
    let model = Caller::model("mcp").for_client(Some(scene.client.to_owned()));
    let caller = Caller { mode: scene.mode, ..model.with_message(Some(scene.said.to_owned())) };
    opened.engine.conclude(opened.engine.propose(parsed, caller))
}

fn show(scene: &Scene, report: &Report) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "Mira to {}: {}", scene.client, scene.said)?;
    let failures = || report.actions.iter().filter_map(|outcome| outcome.result.as_ref().err());
    let waits = failures().find_map(|failure| failure.details.proposal);
    let failed = failures().find(|failure| failure.details.proposal.is_none());
    match (&report.receipt, waits) {
        (_, Some(id)) => writeln!(stdout, "    proposal {id} waits for Mira's yes")?,
        (Some(receipt), None) => stdout.line(format!("    {receipt}"))?,
        (None, None) if failed.is_some() => writeln!(stdout, "    nothing changed")?,
        (None, None) => writeln!(stdout, "    nothing changed; the notes were read")?,
    }
    if let Some(failure) = failed {
        let count = failures().filter(|failure| failure.details.proposal.is_none()).count();
        let (all, message) = (report.actions.len(), &failure.message);
        stdout.line(format!("    {count} of {all} calls failed, the first because {message}"))?;
    }
    Ok(())
}
