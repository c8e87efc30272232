//! Whatever a block of Python holds: nothing panics, what is refused makes no call, every plan applies, and the answer
//! has no tag but its own.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memdir_dialect::{Dialect, Entry, encode, parse_as};
use memdir_plan::{Limits, MapTree, Planner};
use memdir_policy::{Context, Mode, Rules, review};
use memdir_core::report::{Outcome, Report, Value, Variables};

fuzz_target!(|data: &[u8]| {
    let kept = [("exists", Value::Bool(true)), ("content", Value::Text("<reply>".into())), ("n", Value::Nothing)];
    let variables = Variables::new(kept.map(|(name, value)| (name.to_owned(), value)));
    let turn = [b"<think>t</think><python>", data, b"</python>"].concat();
    let parsed = parse_as(&turn, Some(Dialect::Python), &variables);
    assert_eq!(parsed, parse_as(&turn, Some(Dialect::Python), &variables));
    assert!(parsed.script.is_none() || parsed.entries.is_empty());
    let text = String::from_utf8_lossy(&turn);
    let tree = MapTree::of([("user.md", "# Ada\n\n- city: London\n"), ("entities/a.md", "a"), ("box/", "")]);
    let mut planner = Planner::new(&tree, &Limits::default());
    let rules = Rules::default();
    let (mut walk, mut actions) = (parsed.turn(), Vec::new());
    while let Some(entry) = walk.next_entry() {
        let outcome = match entry.into_owned() {
            Entry::Call(call) => {
                assert!(parsed.script.is_some());
                assert_eq!(call.index, actions.len() + 1);
                assert!(text.get(call.span.start..call.span.end).is_some_and(|said| said.contains('(')));
                let context = Context { mode: Mode::Off, approved: false, read_only: false, client: None, grant: None, rules: &rules };
                planner.answer(&review(call, &context, &mut Vec::new()).unwrap())
            }
            Entry::Unread(unread) => Outcome {
                index: unread.index,
                action: unread.action,
                path: unread.path,
                result: Err(unread.failure),
                total: None,
                cursor: None,
                label: unread.label,
                shown: None,
            },
        };
        walk.tell(&outcome);
        actions.push(outcome);
    }
    let variables = walk.variables().unwrap_or_default();
    let plan = planner.finish();
    tree.clone().apply(plan.steps()).unwrap();
    assert!(parsed.script.is_some() || plan.steps().is_empty());
    let answer = encode(&parsed.frame, &Report { variables, ..Report::of(actions) });
    let inside = answer.strip_prefix("<result>\n").and_then(|answer| answer.strip_suffix("\n</result>")).unwrap();
    for tag in ["<python", "</python", "<result", "</result", "<reply", "<think", "</think", "<actions", "<mcp:"] {
        assert!(!inside.to_ascii_lowercase().contains(tag));
    }
});
