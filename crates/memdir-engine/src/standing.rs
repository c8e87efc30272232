//! [`standing`]: the rule by which an answer to one proposal would answer all that are like it.

use super::Engine;
use super::inbox::{PendingProposal, ProposedCall};
use memdir_core::action::Call;
use memdir_core::report::{Code, Failure};
use memdir_policy::{CHANGE, Ground, Rule, Verdict};

/// The characters that mean something in the path of a rule, or that no such path may have.
const SPECIAL: &[char] = &['*', '?', '[', ']', '{', '}', '\\'];

impl Engine {
    /// The rules by which the same answer would be given to all that is like a proposal that waits; none for one that does not:
    /// what decides it tells of that.
    ///
    /// # Errors
    ///
    /// Those of [`standing`] and [`Engine::pending`].
    pub fn standing_for(&self, id: u64, verdict: Verdict) -> Result<Vec<Rule>, Failure> {
        let (waiting, _) = self.waiting()?;
        let found = waiting.iter().find(|waiting| waiting.id == id);
        found.map_or(Ok(Vec::new()), |waiting| standing(waiting, verdict))
    }
}

/// The narrowest rules that give `verdict` to the calls of this proposal about which somebody was asked: of the same action,
/// for the same path, by the same program, and for what the detectors found. One for each finding.
///
/// # Errors
///
/// `usage` where no rule can say it: where a rule asks, for the strictest one wins; where a path has characters that mean
/// something in rules.
pub fn standing(waiting: &PendingProposal, verdict: Verdict) -> Result<Vec<Rule>, Failure> {
    let mut rules = Vec::<Rule>::new();
    for ProposedCall { call, grounds } in &waiting.calls {
        for ground in grounds {
            let detector = match ground {
                Ground::Detector(name) => Some(name.clone()),
                Ground::Rule(number) if verdict == Verdict::Allow => return Err(is_asked_by_rule(*number)),
                // What is found in calls like this one is asked about all the same.
                Ground::Change if verdict == Verdict::Allow => Some(CHANGE.to_owned()),
                // These grounds concern a whole turn, which no rule can describe.
                Ground::Removal | Ground::Origin | Ground::Tidy(_) => return Err(is_asked_each_time(ground)),
                Ground::Rule(_) | Ground::Change => None,
            };
            let rule = Rule {
                action: Some(call.action.name().to_owned()),
                path: path_of(call, verdict)?,
                client: waiting.author.client.clone(),
                detector,
                verdict,
            };
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    Ok(rules)
}

fn path_of(call: &Call, verdict: Verdict) -> Result<Option<String>, Failure> {
    if verdict == Verdict::Allow && call.action.new_path().is_some() {
        // A rule that allows is about a call when all of its paths match, and one glob cannot name two.
        return Err(cannot("a rule cannot name both paths of one call"));
    }
    let Some(path) = call.action.path() else { return Ok(None) };
    if path.as_str().contains(SPECIAL) {
        return Err(cannot(&format!("`{path}` has characters that mean something else in a rule")));
    }
    Ok(Some(path.to_string()))
}

fn is_asked_by_rule(number: usize) -> Failure {
    Failure::new(Code::Usage, format!("rule {number} asks about this, and the strictest rule wins"))
        .with_hint(format!("change or remove rule {number} instead"))
}

fn is_asked_each_time(ground: &Ground) -> Failure {
    let hint = if *ground == Ground::Removal {
        "`removals = \"allow\"` under `[agent]` in the settings lets models take things away unasked"
    } else {
        "decide this one alone"
    };
    Failure::new(Code::Usage, "this is asked about each time; no rule can settle it").with_hint(hint)
}

fn cannot(why: &str) -> Failure {
    Failure::new(Code::Usage, why).with_hint("write the rule that you want into the settings")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ApprovalCode;
    use memdir_core::action::Action;
    use memdir_core::catalog;
    use memdir_core::digest::Digest;
    use memdir_core::time::Timestamp;
    use memdir_policy::{Context, Mode, Rules, review};
    use memdir_vault::Author;

    fn action(name: &str, arguments: serde_json::Value) -> Action {
        catalog::decode(1, name, arguments.as_object().cloned().unwrap()).unwrap()
    }

    fn waiting(action: Action, grounds: Vec<Ground>) -> PendingProposal {
        let origin = "model".to_owned();
        let author =
            Author { door: "mcp".to_owned(), client: Some("shelf".to_owned()), session: None, message: None, origin };
        PendingProposal {
            id: 1,
            time: Timestamp::from_seconds(0),
            expires: Timestamp::from_seconds(1),
            author,
            grant: None,
            own: None,
            reason: String::new(),
            calls: vec![ProposedCall { call: Call::plain(1, action), grounds }],
            changed: Vec::new(),
            diff: String::new(),
            digest: Digest::of(b""),
            code: ApprovalCode::new().unwrap(),
            tries: 0,
        }
    }

    fn found(names: &[&str]) -> Vec<Ground> {
        names.iter().map(|name| Ground::Detector((*name).to_owned())).collect()
    }

    /// Whether a call waits under these rules.
    fn waits(rules: &[Rule], client: &str, action: Action) -> Result<bool, Code> {
        waits_in(Mode::Ask, rules, client, action)
    }

    fn waits_in(mode: Mode, rules: &[Rule], client: &str, action: Action) -> Result<bool, Code> {
        let rules = Rules::new(rules.to_vec()).unwrap();
        let context =
            Context { mode, approved: false, read_only: false, client: Some(client), grant: None, rules: &rules };
        match review(Call::plain(1, action), &context, &mut Vec::new()) {
            Ok(_) => Ok(false),
            Err(refused) if refused.failure.code == Code::AwaitingApproval => Ok(true),
            Err(refused) => Err(refused.failure.code),
        }
    }

    #[test]
    fn a_standing_answer_is_about_calls_like_this_one_and_no_other() {
        let add = |path: &str, text: &str| action("append_file", serde_json::json!({"path": path, "content": text}));
        let asked = waiting(add("user.md", "- email: ada@example.com"), found(&["email"]));
        let always = standing(&asked, Verdict::Allow).unwrap();
        let never = standing(&asked, Verdict::Deny).unwrap();
        for (client, path, text, with_always, with_never) in [
            ("shelf", "user.md", "- email: bob@example.com", Ok(false), Err(Code::Denied)),
            ("shelf", "other.md", "- email: bob@example.com", Ok(true), Ok(true)),
            ("other", "user.md", "- email: bob@example.com", Ok(true), Ok(true)),
            ("shelf", "user.md", "- phone: +44 20 7946 0958", Ok(true), Ok(true)),
            ("shelf", "user.md", "- email: bob@example.com\n- phone: +44 20 7946 0958", Ok(true), Err(Code::Denied)),
            ("shelf", "user.md", "- pet: cat", Ok(false), Ok(false)),
        ] {
            assert_eq!(waits(&always, client, add(path, text)), with_always, "always: {client} {path} {text}");
            assert_eq!(waits(&never, client, add(path, text)), with_never, "never: {client} {path} {text}");
        }
    }

    #[test]
    fn always_for_a_change_that_only_the_mode_asked_about_lifts_nothing_that_is_found() {
        let add = |text: &str| action("append_file", serde_json::json!({"path": "user.md", "content": text}));
        let always = |grounds| standing(&waiting(add("- pet: cat"), grounds), Verdict::Allow).unwrap();
        let plain = always(vec![Ground::Change]);
        let both = always(vec![Ground::Detector("email".to_owned()), Ground::Change]);
        let (tea, mail, script) = ("- tea: green", "- email: ada@example.com", "<script>alert(1)</script>");
        for (rules, mode, text, expected) in [
            (&plain, Mode::All, tea, false),
            (&plain, Mode::All, mail, true),
            (&plain, Mode::All, script, true),
            (&plain, Mode::Ask, tea, false),
            (&plain, Mode::Ask, mail, true),
            (&plain, Mode::Ask, script, true),
            (&both, Mode::All, mail, false),
            (&both, Mode::All, script, true),
            (&both, Mode::Ask, mail, false),
        ] {
            assert_eq!(waits_in(mode, rules, "shelf", add(text)), Ok(expected), "{mode:?} {text} {rules:?}");
        }
        let never = standing(&waiting(add("x"), vec![Ground::Change]), Verdict::Deny).unwrap();
        assert_eq!(waits_in(Mode::Ask, &never, "shelf", add("- tea: green")), Err(Code::Denied));
    }

    #[test]
    fn there_is_one_rule_for_each_finding() {
        let write = action("create_file", serde_json::json!({"path": "a.md", "content": "x"}));
        let rules = standing(&waiting(write, found(&["email", "phone", "email"])), Verdict::Allow).unwrap();
        let detectors: Vec<_> = rules.iter().map(|rule| rule.detector.as_deref()).collect();
        assert_eq!(detectors, [Some("email"), Some("phone")]);
    }

    #[test]
    fn what_no_rule_can_say_is_told() {
        let delete = |path: &str| action("delete_file", serde_json::json!({"path": path}));
        for (ground, verdict) in [Ground::Removal, Ground::Origin].into_iter().zip([Verdict::Deny, Verdict::Allow]) {
            let failure = standing(&waiting(delete("a.md"), vec![ground]), verdict).unwrap_err();
            assert_eq!(failure.message, "this is asked about each time; no rule can settle it");
        }
        let by_rule = || vec![Ground::Rule(2)];
        let always = standing(&waiting(delete("a.md"), by_rule()), Verdict::Allow).unwrap_err();
        assert_eq!(always.message, "rule 2 asks about this, and the strictest rule wins");
        let never = standing(&waiting(delete("a.md"), by_rule()), Verdict::Deny).unwrap();
        assert_eq!((never.len(), &never[0].detector, never[0].path.as_deref()), (1, &None, Some("a.md")));
        let odd = standing(&waiting(delete("a*.md"), by_rule()), Verdict::Deny).unwrap_err();
        assert_eq!(odd.message, "`a*.md` has characters that mean something else in a rule");
    }
}
