//! May it happen: [`review`] turns a call into one that is [`Cleared`], or says why not.
//!
//! Owns verdicts: the person's [`Rules`] and the detectors of personal facts, secrets and active content. Looks at a call's
//! action, arguments, paths and access, and never at what notes already hold, except for the lines that an edit would leave,
//! where it may complete a secret; touches no file, no clock, no environment.

#![warn(clippy::wildcard_enum_match_arm)]

use serde::{Deserialize, Serialize};

use memdir_core::action::{Access, Action, Call, Meaning};
use memdir_core::catalog::{self, access};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Issue};

mod check;
mod detect;
mod filter;
mod finding;
mod glob;
mod grant;
mod labelled;
mod phone;
mod rule;
mod table;
mod verdict;

pub use filter::{Filter, FilterHit, Redacted};
pub use glob::GlobError;
pub use grant::{Grant, GrantError};
pub use rule::CHANGE;
pub use rule::{Rule, RuleError, Rules};
pub use verdict::{Mode, Permission, Verdict};

use rule::CheckedRule;
use table::{Class, Row, rows};

/// What a review depends on beside the call.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// What becomes of calls that somebody should be asked about.
    pub mode: Mode,
    /// The person has been shown the call and agreed; what is denied stays denied.
    pub approved: bool,
    /// Only actions that read are allowed.
    pub read_only: bool,
    /// The program that asks, where it gave its name.
    pub client: Option<&'a str>,
    /// What it was granted; `None` for the owner of the memory.
    pub grant: Option<&'a Grant>,
    /// The person's rules.
    pub rules: &'a Rules,
}

/// A call that may happen. Only [`review`] makes one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cleared {
    call: Call,
    permission: Permission,
}

/// A call that may not happen, or not yet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refused {
    /// The call.
    pub call: Call,
    /// Why not, and what to do about it.
    pub failure: Failure,
    /// With `awaiting_approval`: what the person should be asked about, the strictest first.
    pub grounds: Vec<Ground>,
}

/// What somebody should be asked about.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    /// The rule of this number asks.
    Rule(usize),
    /// The detector of this name found something.
    Detector(String),
    /// The mode asks about every change.
    Change,
    /// The turn takes something away (`Plan::takes_away`).
    Removal,
    /// Most of the words that the turn would write are not the person's.
    Origin,
    /// `memdir tidy` proposes it, for this reason.
    Tidy(String),
}

/// Why a verdict is not [`Verdict::Allow`].
#[derive(Clone, Copy, Debug)]
enum Reason {
    Rule(usize),
    Detector(&'static Row),
    Change,
}

/// The hint for a call that a rule denies.
pub const SETTLED: &str = "the settings decide this; leave it out";
/// The message of [`Reason::Change`].
const EVERY_CHANGE: &str = "every change is asked about here";

/// What all rules and detectors together think of a call.
#[derive(Debug, Default)]
struct Judgement {
    /// The reasons, the strictest first.
    reasons: Vec<(Verdict, Reason)>,
    /// The first rule that allows the call.
    allowed_by: Option<usize>,
}

/// Decides whether a call may happen.
///
/// The strictest verdict of all rules and detectors counts; [`Mode`] says what becomes of [`Verdict::Ask`]. A rule that allows
/// lifts what detectors would ask about; it lifts a secret, which they deny, only if it names the detector. Only text and names
/// that are new are judged, so a phone number that is already in the `old_content` of an edit does not count. Calls that are
/// made although somebody might have been asked are reported in `issues`. [`Mode::All`] asks about every call that does not
/// only read, whatever is found in it; a rule that allows lifts that too, unless it names a detector, and one that names
/// `change` lifts only that.
///
/// This proves that no rule was broken, not that the call will succeed: nothing is read here. No link is followed, so a caller
/// that resolves one asks [`review_place`] about the note to which it leads.
///
/// # Errors
///
/// [`Refused`] with `read_only`, `denied`, `permission_required` or `awaiting_approval`; with what [`Rules::unreadable`] was given.
///
/// # Examples
///
/// ```
/// use memdir_core::action::{Action, Call, CreateFile};
/// use memdir_core::path::MemoryPath;
/// use memdir_policy::{Context, Mode, Rules, review};
///
/// let path = MemoryPath::parse("people/ada.md")?;
/// let action = Action::CreateFile(CreateFile { path, content: "- email: ada@example.com".into() });
/// let call = Call::plain(1, action);
/// let context = Context { mode: Mode::Flag, approved: false, read_only: false, client: None, grant: None, rules: &Rules::default() };
///
/// let refused = review(call, &context, &mut Vec::new()).unwrap_err();
/// assert_eq!(refused.failure.message, "this is personal: an email address");
/// # Ok::<(), memdir_core::path::PathError>(())
/// ```
pub fn review(call: Call, context: &Context<'_>, issues: &mut Vec<Issue>) -> Result<Cleared, Box<Refused>> {
    refuse(&call, context.rules.trouble())?;
    if context.read_only && access(&call.action) > Access::Read {
        let failure = refusal_to_write(call.action.name());
        return Err(Box::new(Refused { call, failure, grounds: Vec::new() }));
    }
    refuse(&call, context.grant.and_then(|grant| grant.refusal(&call.action)))?;
    let judgement = judge(&call.action, context, &found_in(&call.action));
    if let Some(refused) = judgement.refused(&call, context) {
        return Err(refused);
    }
    if context.mode == Mode::Off {
        issues.extend(judgement.reasons.iter().map(|(_, reason)| reason.issue(&call)));
    }
    Ok(Cleared { permission: judgement.permission(context), call })
}

/// Why something that writes is not done for somebody who may only read.
#[must_use]
pub fn refusal_to_write(what: &str) -> Failure {
    let message = format!("this memory is read-only here, and `{what}` writes");
    Failure::new(Code::ReadOnly, message).with_hint("only actions that read are allowed")
}

/// Decides whether an edit may leave the lines `new` in a note in place of `old`: the call may bring only the second half of a key
/// whose first half is in the note.
///
/// Only secrets are looked for, and only where these lines say more than the text of the call.
///
/// # Errors
///
/// `denied` for a secret that is not in `old`.
///
/// # Examples
///
/// ```
/// use memdir_core::action::{Action, AppendFile, Call};
/// use memdir_core::path::MemoryPath;
/// use memdir_policy::{Context, Mode, Rules, review_lines};
///
/// let action = Action::AppendFile(AppendFile { path: MemoryPath::parse("a.md")?, content: "FAKEFAKEFAKEFAK7".into() });
/// let context = Context { mode: Mode::Off, approved: false, read_only: false, client: None, grant: None, rules: &Rules::default() };
/// let refused = review_lines(&Call::plain(1, action), concat!("AKIA", "FAKEFAKEFAKEFAK7"), "AKIA", &context);
/// assert_eq!(refused.unwrap_err().code, memdir_core::report::Code::Denied);
/// # Ok::<(), memdir_core::path::PathError>(())
/// ```
pub fn review_lines(call: &Call, new: &str, old: &str, context: &Context<'_>) -> Result<(), Failure> {
    if call.action.text().is_some_and(|(text, _)| text.contains(new)) {
        return Ok(());
    }
    let found = detect::find(new, old, |class| class == Class::Secret);
    if found.is_empty() {
        return Ok(());
    }
    let mut judgement = judge(&call.action, context, &found);
    judgement.reasons.retain(|(verdict, _)| *verdict == Verdict::Deny);
    judgement.refusal(call, context).map_or(Ok(()), Err)
}

/// Decides whether a call may reach `path` too: a place to which its paths or its link lead.
///
/// The rules for the call's action and program count, with `path` in place of its paths; for `go_to_link` those of `read_file`
/// count as well. Only rules that ask or deny matter here; [`review`] decides whether the call may happen at all.
///
/// # Errors
///
/// As [`review`], but for `read_only`.
///
/// # Examples
///
/// ```
/// use memdir_core::action::{Action, Call, GoToLink};
/// use memdir_core::path::MemoryPath;
/// use memdir_policy::{Context, Mode, Rule, Rules, Verdict, review_place};
///
/// let path = Some("private/**".into());
/// let rule = Rule { action: Some("go_to_link".into()), path, client: None, detector: None, verdict: Verdict::Deny };
/// let context = Context { mode: Mode::Off, approved: false, read_only: false, client: None, grant: None, rules: &Rules::new(vec![rule])? };
/// let action = Action::GoToLink(GoToLink { link: "[[ada]]".into(), source: None });
/// let call = Call::plain(1, action);
///
/// assert!(review_place(&call, &MemoryPath::parse("private/ada.md")?, &context).is_err());
/// assert!(review_place(&call, &MemoryPath::parse("people/ada.md")?, &context).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn review_place(call: &Call, path: &MemoryPath, context: &Context<'_>) -> Result<(), Box<Refused>> {
    refuse(call, context.rules.trouble())?;
    let judgement = judge_place(call, path, context);
    judgement.refused(call, context).map_or(Ok(()), Err)
}

/// As [`review_place`], for a place that the call changes or reads itself: with [`Mode::All`], a rule that allows the call under
/// one name of a note does not cover the note to which that name leads.
///
/// # Errors
///
/// As [`review_place`].
pub fn review_target(call: &Call, path: &MemoryPath, context: &Context<'_>) -> Result<(), Box<Refused>> {
    refuse(call, context.rules.trouble())?;
    let mut judgement = judge_place(call, path, context);
    if asks_about_change(&call.action, context) && !context.rules.allow_at(&call.action, path, context) {
        judgement.reasons.push((Verdict::Ask, Reason::Change));
    }
    judgement.refused(call, context).map_or(Ok(()), Err)
}

/// As [`review_target`], for a call that may change notes of which its client is not told: with [`Mode::All`] it is asked about, whether
/// there are such notes or not.
///
/// # Errors
///
/// [`Refused`] with `awaiting_approval`.
pub fn review_unseen(call: &Call, context: &Context<'_>) -> Result<(), Box<Refused>> {
    let mut judgement = Judgement::default();
    if asks_about_change(&call.action, context) {
        judgement.reasons.push((Verdict::Ask, Reason::Change));
    }
    judgement.refused(call, context).map_or(Ok(()), Err)
}

/// What the rules about places make of this one.
fn judge_place(call: &Call, path: &MemoryPath, context: &Context<'_>) -> Judgement {
    let found = found_for_places(&call.action, context);
    Judgement::of_rules(context.rules.about_place(&call.action, path, context, &found))
}

/// Whether the mode asks the person about the action, whatever it writes.
fn asks_about_change(action: &Action, context: &Context<'_>) -> bool {
    context.mode == Mode::All && access(action) > Access::Read
}

/// Decides whether the client's grant covers the places to which a call's path and new path lead, or its link or key in place of a
/// path.
///
/// # Errors
///
/// [`Refused`] with `denied`.
pub fn review_led(
    call: &Call,
    source: Option<&MemoryPath>,
    target: Option<&MemoryPath>,
    context: &Context<'_>,
) -> Result<(), Box<Refused>> {
    refuse(call, context.grant.and_then(|grant| grant.refusal_at(&call.action, source, target)))
}

/// Decides whether a call may be made whose path turned out to be a folder, with the places to which its path and its new path
/// lead: a rename moves everything in the folder.
///
/// # Errors
///
/// [`Refused`] with `denied` where the client may not write everything that could be in the folder, here and there.
pub fn review_folder(
    call: &Call,
    source: Option<&MemoryPath>,
    target: Option<&MemoryPath>,
    context: &Context<'_>,
) -> Result<(), Box<Refused>> {
    refuse(call, context.grant.and_then(|grant| grant.refusal_of_folder(&call.action, source, target)))
}

fn refuse(call: &Call, failure: Option<Failure>) -> Result<(), Box<Refused>> {
    failure.map_or(Ok(()), |failure| Err(Box::new(Refused { call: call.clone(), failure, grounds: Vec::new() })))
}

/// Whether there are places that [`review_place`] would hide from the call. Where there are none, an answer may show every
/// note.
#[must_use]
pub fn may_hide(call: &Call, context: &Context<'_>) -> bool {
    if context.rules.trouble().is_some() {
        return true;
    }
    let found = found_for_places(&call.action, context);
    let rules = context.rules.about_places(&call.action, context, &found);
    Judgement::of_rules(rules).refusal(call, context).is_some()
}

/// What the detectors find, if a rule about places depends on it.
fn found_for_places(action: &Action, context: &Context<'_>) -> Vec<&'static Row> {
    if context.rules.joins_paths_and_detectors() { found_in(action) } else { Vec::new() }
}

/// Finds what in a note would run or reach out once it is opened in a viewer: the line, from 1, and what it is, for each
/// place. `without_code` gives the text with its code blanked out, line by line: what is shown as code runs only where the
/// code itself is a script.
///
/// # Examples
///
/// ```
/// let text = "# A\n\n<script>alert(1)</script>\n";
/// let found = memdir_policy::active_content(text, || text.to_owned());
/// assert_eq!(found.first().map(|(line, _)| *line), Some(3));
/// ```
#[must_use]
pub fn active_content(text: &str, without_code: impl FnOnce() -> String) -> Vec<(usize, &'static str)> {
    let is_active = |row: &Row| row.class == Class::ActiveContent;
    let mut found = detect::places_as_written(text, is_active);
    // Most notes hold nothing, and are not read again.
    if found.iter().any(|(row, _)| !row.runs_as_code()) {
        found.retain(|(row, _)| row.runs_as_code());
        found.extend(detect::places_as_written(&without_code(), |row| is_active(row) && !row.runs_as_code()));
    }
    let mut found: Vec<_> = found.into_iter().map(|(row, lines)| (lines.start() + 1, row.words)).collect();
    found.sort_unstable();
    found
}

/// Whether a detector of secrets finds something in a text.
#[must_use]
pub fn holds_secret(text: &str) -> bool {
    !detect::find(text, "", |class| class == Class::Secret).is_empty()
}

/// What rules and detectors think of an action in which the detectors found this.
fn judge(action: &Action, context: &Context<'_>, found: &[&'static Row]) -> Judgement {
    let about: Vec<_> = context.rules.about(action, context, found).collect();
    let mut judgement = Judgement::default();
    for rule in &about {
        match rule.verdict {
            Verdict::Allow => judgement.allowed_by = judgement.allowed_by.or(Some(rule.number)),
            Verdict::Ask | Verdict::Deny => judgement.reasons.push((rule.verdict, Reason::Rule(rule.number))),
        }
    }
    for &row in found {
        let verdict = row.class.verdict();
        let is_lifted = about
            .iter()
            .filter(|rule| rule.verdict == Verdict::Allow)
            .any(|rule| if rule.has_detector() { rule.names(row) } else { verdict == Verdict::Ask });
        if !is_lifted {
            judgement.reasons.push((verdict, Reason::Detector(row)));
        }
    }
    let is_allowed = about.iter().any(|rule| rule.allows_change());
    if asks_about_change(action, context) && !is_allowed {
        judgement.reasons.push((Verdict::Ask, Reason::Change));
    }
    judgement.reasons.sort_by_key(|(verdict, _)| std::cmp::Reverse(*verdict));
    judgement
}

/// What the detectors find in the text and the names that the action would bring.
fn found_in(action: &Action) -> Vec<&'static Row> {
    let mut found = match action.text() {
        Some((new, old)) => match heading(action) {
            // The heading may be the label of a value below it.
            Some(heading) => detect::find(&format!("# {heading}\n{new}"), &format!("# {heading}\n{old}"), |_| true),
            None => detect::find(&new, old, |_| true),
        },
        None => Vec::new(),
    };
    let (name, old) = match (action, action.path(), action.new_path()) {
        (_, Some(path), Some(new_path)) => (new_path.as_str(), path.as_str()),
        (_, Some(path), None) if access(action) == Access::Write => (path.as_str(), ""),
        _ => return found,
    };
    // The words of a name count, whatever separates them.
    let words = |name: &str| name.strip_suffix(".md").unwrap_or(name).replace(['_', '-', '/'], " ");
    let in_name = detect::find(name, old, |class| class != Class::ActiveContent);
    let in_words = detect::find(&words(name), &words(old), |class| class == Class::Personal);
    for row in in_name.into_iter().chain(in_words) {
        if !found.iter().any(|other| other.name == row.name) {
            found.push(row);
        }
    }
    found
}

/// The heading below which the action would write.
fn heading(action: &Action) -> Option<&str> {
    if let Action::ReplaceSection(replace) = action {
        Some(&replace.heading)
    } else if let Action::AppendToSection(append) = action {
        Some(&append.heading)
    } else {
        None
    }
}

impl Judgement {
    /// The judgement of rules that ask or deny.
    fn of_rules<'r>(rules: impl Iterator<Item = &'r CheckedRule>) -> Self {
        let mut judgement = Self::default();
        judgement.reasons.extend(rules.map(|rule| (rule.verdict, Reason::Rule(rule.number))));
        judgement.reasons.sort_by_key(|(verdict, _)| std::cmp::Reverse(*verdict));
        judgement
    }

    /// Why the call may not happen, or not yet.
    fn refusal(&self, call: &Call, context: &Context<'_>) -> Option<Failure> {
        let (verdict, reason) = self.reasons.first()?;
        let message = reason.message(*verdict, call);
        match (verdict, context.mode) {
            (Verdict::Deny, _) => {
                let failure = Failure::new(Code::Denied, message);
                Some(match reason {
                    Reason::Rule(_) | Reason::Change => failure.with_hint(SETTLED),
                    Reason::Detector(_) => failure.with_hint("leave it out; secrets are not kept in notes"),
                })
            }
            (Verdict::Ask, Mode::Flag) if !call.claimed => {
                let failure = Failure::new(Code::PermissionRequired, message);
                Some(match call.meaning {
                    // No function of mem-agent takes it.
                    Meaning::MemAgent => failure.with_hint("leave it out: a block cannot say that the user has agreed"),
                    Meaning::Plain | Meaning::WholeLine | Meaning::MemoryTool => failure
                        .with_hint(format!("ask the user first, then repeat with \"{}\":true", catalog::PERMISSION)),
                })
            }
            (Verdict::Ask, Mode::Ask | Mode::All) if !context.approved => {
                Some(if access(&call.action) == Access::Read {
                    Failure::new(Code::PermissionRequired, message)
                        .with_hint("nobody is asked about reading; leave it out")
                } else {
                    Failure::new(Code::AwaitingApproval, message).with_hint("go on without it; the person decides")
                })
            }
            (Verdict::Ask, Mode::All | Mode::Ask | Mode::Flag | Mode::Off) | (Verdict::Allow, _) => None,
        }
    }

    /// The refusal of a call that may not happen, or not yet.
    fn refused(&self, call: &Call, context: &Context<'_>) -> Option<Box<Refused>> {
        let failure = self.refusal(call, context)?;
        let grounds = self.grounds_of(&failure);
        Some(Box::new(Refused { call: call.clone(), failure, grounds }))
    }

    /// What the person should be asked about, where the refusal says that the call waits for that.
    fn grounds_of(&self, failure: &Failure) -> Vec<Ground> {
        if failure.code != Code::AwaitingApproval {
            return Vec::new();
        }
        let ground = |reason: &Reason| match reason {
            Reason::Rule(number) => Ground::Rule(*number),
            Reason::Detector(row) => Ground::Detector(row.name.to_owned()),
            Reason::Change => Ground::Change,
        };
        self.reasons.iter().map(|(_, reason)| ground(reason)).collect()
    }

    /// Who permits a call that is not refused.
    fn permission(&self, context: &Context<'_>) -> Permission {
        match (self.reasons.is_empty(), context.mode, self.allowed_by) {
            (_, Mode::Ask | Mode::All, _) if context.approved => Permission::Approved,
            (false, Mode::Flag, _) => Permission::Claimed,
            (true, _, Some(number)) => Permission::Rule(number.to_string()),
            (false, Mode::Off | Mode::Ask | Mode::All, _) | (true, _, None) => Permission::Off,
        }
    }
}

impl Ground {
    /// The words for a person, for a call of the action called `action`.
    #[must_use]
    pub fn words(&self, action: &str) -> String {
        match self {
            Self::Rule(number) => format!("rule {number} asks about `{action}`"),
            Self::Detector(name) => match rows().iter().find(|row| row.name == name) {
                Some(row) => format!("{}: {}", row.class.words(), row.words),
                None => name.clone(),
            },
            Self::Change => EVERY_CHANGE.to_owned(),
            Self::Removal => "this takes something away".to_owned(),
            Self::Origin => "most of these words are not yours".to_owned(),
            Self::Tidy(why) => why.clone(),
        }
    }

    /// The code for a program, as in an issue: `rule`, `change`, `removal`, `origin`, `tidy`, or the class of what was found, such as
    /// `personal`; for a detector that is not known here, its name.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Rule(_) => "rule",
            Self::Detector(name) => rows().iter().find(|row| row.name == name).map_or(name, |row| row.class.name()),
            Self::Change => "change",
            Self::Removal => "removal",
            Self::Origin => "origin",
            Self::Tidy(_) => "tidy",
        }
    }
}

/// Whether an issue has the code of something that [`review`] found in a call and let through.
#[must_use]
pub fn is_finding(code: &str) -> bool {
    ["rule", "change"].contains(&code) || Class::ALL.iter().any(|class| class.name() == code)
}

impl Reason {
    fn code(self) -> &'static str {
        match self {
            Self::Rule(_) => "rule",
            Self::Detector(row) => row.class.name(),
            Self::Change => "change",
        }
    }

    fn message(self, verdict: Verdict, call: &Call) -> String {
        match self {
            Self::Rule(number) => {
                let does = if verdict == Verdict::Deny { "denies" } else { "asks about" };
                format!("rule {number} {does} `{}`", call.action.name())
            }
            Self::Detector(row) => format!("this is {}: {}", row.class.words(), row.words),
            Self::Change => EVERY_CHANGE.to_owned(),
        }
    }

    fn issue(self, call: &Call) -> Issue {
        Issue { code: self.code(), index: Some(call.index), message: self.message(Verdict::Ask, call) }
    }
}

impl Cleared {
    /// The call.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Who permitted it.
    #[must_use]
    pub fn permission(&self) -> &Permission {
        &self.permission
    }
}

#[cfg(test)]
mod grant_tests;
#[cfg(test)]
mod tests;
