//! `memdir rules`: the standing answers in the settings; giving one, and taking one back.

use serde_json::{Value, json};

use super::args::{Global, Rules as Command};
use super::config::{Config, Sources};
use super::open;
use super::output::{Lines, say};
use super::stop::Stop;
use memdir_plan as plan;
use memdir_policy::{Grant, Mode, Rule, Verdict};

pub(super) fn run(global: &Global, command: Option<&Command>) -> Result<u8, Stop> {
    let sources = Sources::read()?;
    let folder = open::folder(global, &sources)?;
    let root = folder.root();
    match command {
        None | Some(Command::List) => {}
        Some(Command::Add { verdict, action, path, client, detector }) => {
            if let Some(path) = path.as_deref().filter(|path| !path.ends_with('/') && folder.has_folder(path)) {
                say(format!("note: `{path}` is the folder alone; with all that is in it, it is written `{path}/`"))?;
            }
            let (action, path) = (action.clone(), path.clone());
            let (client, detector) = (client.clone(), detector.clone());
            let rule = Rule { action, path, client, detector, verdict: *verdict };
            sources.add_rule(root, &rule)?;
            if rule.verdict == Verdict::Ask {
                say_who_asks(&sources.for_memory(root)?)?;
            }
            if let Some(path) = rule.path.as_deref().filter(|path| !folder.has_folder(path)) {
                say_unmatched(global, path)?;
            }
        }
        Some(Command::Remove { number }) => say(format!("removed: {}", sources.remove_rule(root, *number)?))?,
    }
    for (memory, count) in sources.absent_memories().iter().filter(|(_, count)| *count > 0) {
        let rules = plan::count(*count, "rule");
        say(format!("note: the settings have {rules} for {}, where no memory is", memory.display()))?;
    }
    let rules = Sources::read()?.for_memory(root)?.rule;
    let numbered: Vec<Value> = rules.iter().zip(1..).map(|(rule, number)| shape(number, rule)).collect();
    global.answer(&json!({ "rules": numbered }), |stdout| {
        for (rule, number) in rules.iter().zip(1..) {
            stdout.line(format!("{number}  {}", rule))?;
        }
        if rules.is_empty() {
            say("no rules: the detectors and the permission mode alone decide")?;
        }
        Ok(())
    })
}

/// Says where a rule that asks is no question to the person.
fn say_who_asks(config: &Config) -> Result<(), Stop> {
    let modes = &config.permission;
    let doors = [("exec", modes.exec), ("mcp", modes.mcp), ("chat", modes.chat), ("ask", modes.ask)];
    for (door, mode) in doors {
        let instead = match mode {
            Mode::Off => "does it, and says that a rule asks about it",
            Mode::Flag => "does it if the model says that you agreed",
            Mode::Ask | Mode::All => continue,
        };
        let other = format!("`memdir config set permission.{door} ask` lets it wait for you");
        say(format!("note: `{door}` is in mode `{}` and {instead}; {other}", mode.as_str()))?;
    }
    Ok(())
}

/// Says so where a path matches nothing in the memory: it may be mistyped, and then protects nothing.
fn say_unmatched(global: &Global, path: &str) -> Result<(), Stop> {
    // What a grant would hide is what a rule matches, in any case and Unicode form.
    let all = Grant::new(&["**".to_owned()], &[], None).and_then(|all| all.hiding(&[path.to_owned()]));
    let Ok(others) = all else { return Ok(()) };
    if open::open_to_read(global)?.engine.every_note()?.iter().all(|note| others.shows(note)) {
        say(format!(
            "note: `{path}` matches no note now; paths begin in the memory, and a folder is written `people/`"
        ))?;
    }
    Ok(())
}

/// A rule with its number, all keys given.
fn shape(number: usize, rule: &Rule) -> Value {
    let Rule { action, path, client, detector, verdict } = rule;
    json!({"number": number, "action": action, "path": path, "client": client, "detector": detector, "verdict": verdict})
}
