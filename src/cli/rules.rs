//! `memdir rules`: the standing answers in the settings; giving one, and taking one back.

use std::io::{self, Write};

use serde::Serialize;

use super::args::{Global, Rules as Asked};
use super::config::Sources;
use super::exit::{Stop, print_json};
use super::{open, term};
use crate::policy::{Rule, Verdict};

/// A rule with its number, all keys given.
#[derive(Debug, Serialize)]
struct Numbered<'a> {
    number: usize,
    action: Option<&'a str>,
    path: Option<&'a str>,
    client: Option<&'a str>,
    detector: Option<&'a str>,
    verdict: Verdict,
}

#[derive(Debug, Serialize)]
struct Listed<'a> {
    rules: Vec<Numbered<'a>>,
}

pub(super) fn run(global: &Global, asked: Option<&Asked>) -> Result<u8, Stop> {
    let sources = Sources::read()?;
    let folder = open::named(global, &sources)?;
    let located = open::locate(global, &sources, &folder)?;
    match asked {
        None | Some(Asked::List) => {}
        Some(Asked::Add { verdict, action, path, client, detector }) => {
            let (action, path) = (action.clone(), path.clone());
            let (client, detector, verdict) = (client.clone(), detector.clone(), (*verdict).into());
            sources.add_rule(&located.root, &Rule { action, path, client, detector, verdict })?;
            writeln!(io::stderr(), "note: an assistant that has memdir running takes this up when it starts it again")?;
        }
        Some(Asked::Remove { number }) => {
            let removed = sources.remove_rule(&located.root, *number)?;
            writeln!(io::stderr(), "removed: {}", term::escape_line(&words(&removed)))?;
        }
    }
    let rules = Sources::read()?.for_memory(&located.root)?.rule;
    let listed = Listed { rules: rules.iter().zip(1..).map(|(rule, number)| Numbered::of(number, rule)).collect() };
    if global.json {
        print_json(&listed)?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    for (rule, number) in rules.iter().zip(1..) {
        writeln!(stdout, "{number}  {}", term::escape_line(&words(rule)))?;
    }
    if rules.is_empty() {
        writeln!(io::stderr(), "no rules: the detectors and the mode of permission decide alone")?;
    }
    stdout.flush()?;
    Ok(0)
}

impl<'a> Numbered<'a> {
    fn of(number: usize, rule: &'a Rule) -> Self {
        let Rule { action, path, client, detector, verdict } = rule;
        let (action, path) = (action.as_deref(), path.as_deref());
        Self { number, action, path, client: client.as_deref(), detector: detector.as_deref(), verdict: *verdict }
    }
}

/// A rule as one line.
fn words(rule: &Rule) -> String {
    let Rule { action, path, client, detector, verdict } = rule;
    let given = [("action", action), ("path", path), ("client", client), ("detector", detector)];
    let given: Vec<_> = given.into_iter().filter_map(|(key, text)| Some(format!("{key} {}", text.as_ref()?))).collect();
    if given.is_empty() { format!("{verdict}  everything") } else { format!("{verdict}  {}", given.join(", ")) }
}
