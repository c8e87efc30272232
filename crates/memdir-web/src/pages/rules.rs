//! The rules that answer the same from now on, as they are shown, agreed to and written.

use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure};
use memdir_policy::{Rule, Verdict};

use crate::site::Site;

/// The rules that settle a proposal, if they are the ones of this digest.
pub(super) fn rules_as_shown(
    site: &Site,
    id: u64,
    verdict: Verdict,
    shown: Option<&str>,
) -> Result<Vec<Rule>, Failure> {
    let rules = site.engine().standing_for(id, verdict)?;
    if shown == Some(digest_of(&rules).to_string().as_str()) {
        return Ok(rules);
    }
    let failure = Failure::new(Code::Conflict, format!("proposal {id} would be settled by other rules by now"));
    Err(failure.with_hint("nothing was decided: look at the proposal once more"))
}

/// What an always or a never is bound to.
pub(super) fn digest_of(rules: &[Rule]) -> Digest {
    let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
    Digest::of(rules.join("\n").as_bytes())
}

/// Writes a rule into the settings, and says so. The decision holds also where that cannot be done.
pub(super) fn settle(site: &Site, rule: &Rule) -> String {
    match site.person_files().and_then(|files| files.add_rule(rule)) {
        Ok(number) => format!(
            "rule {number} gives the same answer in each program that starts memdir from now on; this page and what else runs ask until they start again: {rule}"
        ),
        Err(failure) => format!("it is decided, but no rule was written: {}", failure.message),
    }
}
