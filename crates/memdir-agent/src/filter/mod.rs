//! Filters at work: what a person wants kept out goes before the model sees it, and out of what it says.
//!
//! Owns where filters stand in a message, and what of a report, a note and a reply they take out. What they mean is
//! [`memdir_policy::Filter`]'s. No text that is filtered leaves, and no search looks through it ([`view`]); that a call on it succeeds
//! or fails can still tell a model that its guess was right, as an `if` in a block of its own can.

use super::session::Session;
use memdir_core::catalog;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Issue, Value, Variables};
use memdir_policy::{Filter, Grant, GrantError};

mod message;
mod note;
pub(super) mod prose;
mod redact;
mod reply;

pub(super) use message::split;
pub(super) use note::{Notes, view};
pub(super) use redact::{Redaction, failure, parts};
pub(super) use reply::withhold;

/// What stands where something was taken out.
const WITHHELD: &str = "(withheld by a filter)";

/// A grant that shows nothing of the places that filters name; what else it says stays.
///
/// # Errors
///
/// None but for a glob that no path fits, of which filters make none.
pub(super) fn hiding(grant: Option<Grant>, filters: &[Filter]) -> Result<Option<Grant>, GrantError> {
    let hidden: Vec<String> = filters.iter().flat_map(Filter::rules).filter_map(|rule| rule.path).collect();
    if hidden.is_empty() {
        return Ok(grant);
    }
    let all = ["**".to_owned()];
    let grant = grant.map_or_else(|| Grant::new(&all, &all, None), Ok)?;
    grant.hiding(&hidden).map(Some)
}

/// A conversation as filters leave it: what was said, and what its variables hold. `texts` are the filters in their words.
///
/// A reply says what a note holds in words of its own, in which a filter that is about a place, a tag or a name finds nothing. So
/// where such a filter was not on yet, nothing is left but what the person said, and no variable.
pub(super) fn conversation(session: &Session, filters: &[Filter], texts: &[String]) -> Session {
    let mut session = session.clone();
    if filters.is_empty() {
        return session;
    }
    let texts: Vec<&String> = texts.iter().filter(|text| !Filter::compile(text).is_found_in_text()).collect();
    let mut is_kept_back = true;
    for exchange in &mut session.exchanges {
        exchange.message = withhold(&exchange.message, filters);
        if !texts.iter().all(|text| exchange.filters.contains(*text)) {
            (exchange.reply, exchange.receipt) = (None, None);
            is_kept_back = false;
        }
        for said in [&mut exchange.reply, &mut exchange.receipt].into_iter().flatten() {
            *said = withhold(said, filters);
        }
    }
    let variables = session.variables.iter().map(|(name, value)| match value {
        Value::Text(text) if is_kept_back => (name.to_owned(), Value::Text(withhold(text, filters))),
        Value::Bool(_) | Value::Bytes(_) | Value::Nothing if is_kept_back => (name.to_owned(), value.clone()),
        // Of what else there is no block can use anything.
        Value::Text(_)
        | Value::Bool(_)
        | Value::Bytes(_)
        | Value::Nothing
        | Value::Paths(_)
        | Value::Directory(_)
        | Value::File(_)
        | Value::History(_)
        | Value::Search(_)
        | Value::Context(_)
        | Value::Links(_)
        | Value::Entries(_)
        | Value::Remembered(_)
        | Value::Recent(_)
        | Value::Foreign(_)
        | Value::Config(_) => (name.to_owned(), Value::Nothing),
    });
    session.variables = Variables::new(variables.collect::<Vec<_>>());
    session
}

/// What the person is told of a filter before anything is answered: what it was turned into, and what of it is not enforced.
pub(super) fn told(filter: &Filter) -> Vec<Issue> {
    let issue = |code, message| Issue { code, index: None, message };
    let enforced = filter
        .is_enforced()
        .then(|| issue("filter_enforced", format!("the filter keeps back: {}", filter.names().replace('\n', "; "))));
    let not = filter.rest().iter().map(|part| {
        issue("filter_not_enforced", format!("this part of the filter is only asked of the model: `{part}`"))
    });
    enforced.into_iter().chain(not).collect()
}

/// Why a filter is none, where nothing of it can be enforced.
pub(super) fn unenforced(filter: &Filter) -> Option<Failure> {
    let part = filter.rest().first().filter(|_| !filter.is_enforced())?;
    let message = format!("nothing of this filter can be enforced: `{}`", catalog::shorten(part));
    Some(Failure::new(Code::Usage, message).with_hint(
        "name what to keep back: `fact:phone`, `#private`, `health/**`, `note:Tom`, a detector such as `email`, or `only fact:age`",
    ))
}

/// What is said where text that a filter keeps back could leave the machine another way.
pub(super) fn elsewhere(host: &str) -> Failure {
    let message =
        format!("a filter does not go together with embeddings that are made elsewhere: {host} sees what notes hold");
    Failure::new(Code::Config, message)
        .with_hint("leave the filter out, or let `[search] embeddings` name a model of this machine")
}

/// Whether filters leave something out in the name of a note, as words.
fn hides_name(filters: &[Filter], path: &MemoryPath) -> bool {
    finds(filters, &path.as_str().replace(['/', '_', '-', '.'], " "))
}

/// Whether filters leave something out in a text.
fn finds(filters: &[Filter], text: &str) -> bool {
    filters.iter().any(|filter| !filter.find(text).is_empty())
}

#[cfg(test)]
mod tests;
