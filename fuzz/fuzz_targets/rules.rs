//! Rules as settings could say them, and calls that they judge: nothing panics, and what a rule denies stays denied.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memdir_core::action::{Action, Call, CreateFile, DeleteDir, NAMES, RenameFile, UpdateFile};
use memdir_core::path::MemoryPath;
use memdir_policy::{Context, Mode, Rule, Rules, Verdict, review};

/// One line a rule, `key = value` between semicolons; a key that no rule has is left out.
fn rule(line: &str) -> Rule {
    let mut rule = Rule { action: None, path: None, client: None, detector: None, verdict: Verdict::Ask };
    for (key, value) in line.split(';').filter_map(|part| part.split_once('=')) {
        let value = value.trim().trim_matches('"').to_owned();
        match key.trim() {
            "action" => rule.action = Some(value),
            // Names from the catalog, so that rules with an action are reached without guessing.
            "act" => {
                rule.action = value
                    .bytes()
                    .next()
                    .and_then(|at| NAMES.get(usize::from(at) % NAMES.len()))
                    .map(|name| (*name).to_owned())
            }
            "path" => rule.path = Some(value),
            "client" => rule.client = Some(value),
            "detector" => rule.detector = Some(value),
            "verdict" if value == "allow" => rule.verdict = Verdict::Allow,
            "verdict" if value == "deny" => rule.verdict = Verdict::Deny,
            _ => {}
        }
    }
    rule
}

fn calls(text: &str) -> Vec<Call> {
    let mut parts = text.splitn(4, '\n');
    let mut part = || parts.next().unwrap_or_default();
    let (one, other) = (MemoryPath::parse(part()), MemoryPath::parse(part()));
    let (old_content, content) = (part().to_owned(), part().to_owned());
    let (Ok(path), Ok(new_path)) = (one, other) else { return Vec::new() };
    let actions = [
        Action::CreateFile(CreateFile { path: path.clone(), content: content.clone() }),
        Action::UpdateFile(UpdateFile { path: path.clone(), old_content, new_content: content, occurrence: None }),
        Action::RenameFile(RenameFile { path: path.clone(), new_path }),
        Action::DeleteDir(DeleteDir { path, recursive: Some(true) }),
    ];
    let call = |(index, action)| Call { claimed: index % 2 == 0, ..Call::plain(index, action) };
    (1..).zip(actions).map(call).collect()
}

fuzz_target!(|input: (Vec<String>, String)| {
    let rules: Vec<Rule> = input.0.iter().map(|line| rule(line)).collect();
    let denies_all = |rule: &Rule| {
        rule.verdict == Verdict::Deny
            && *rule == Rule { action: None, path: None, client: None, detector: None, verdict: Verdict::Deny }
    };
    let is_closed = rules.iter().any(denies_all);
    let Ok(rules) = Rules::new(rules) else { return };
    for mode in [Mode::Off, Mode::Flag] {
        let context = Context { mode, approved: false, read_only: false, client: Some("client"), grant: None, rules: &rules };
        for call in calls(&input.1) {
            let is_done = review(call, &context, &mut Vec::new()).is_ok();
            assert!(!(is_closed && is_done));
        }
    }
});
