//! From a person's words to matchers.
//!
//! A text is sentences, a sentence is clauses, and a clause is a head that says what to do (“do not reveal”, “only”) and the
//! things it is about. Every word is either known or makes the clause one that is understood in part.

use super::clause::{Head, clause_of, clauses};
use super::things::Scan;
use super::token::{sentences, tokens};
use super::{Filter, Matcher};

/// How many matchers a filter has at most; what would be more is not understood.
pub(super) const MAX_MATCHERS: usize = 200;

/// How many bytes a filter has at most; a longer one is not understood.
const MAX_BYTES: usize = 8 * 1024;

/// What a sentence says.
#[derive(Default)]
struct Sentence {
    not: Vec<Matcher>,
    only: Vec<Vec<Matcher>>,
    /// Whether every word of it was understood.
    is_whole: bool,
}

pub(super) fn filter(text: &str) -> Filter {
    if text.len() > MAX_BYTES {
        return Filter { not: Vec::new(), only: Vec::new(), rest: Some(text.trim().to_owned()) };
    }
    let read: Vec<(&str, Sentence)> = sentences(text).map(|text| (text, sentence(text))).collect();
    let is_whole = read.iter().all(|(_, sentence)| sentence.is_whole);
    let mut filter = Filter { not: Vec::new(), only: Vec::new(), rest: None };
    let mut rest: Vec<&str> = Vec::new();
    for (text, sentence) in read {
        let room = MAX_MATCHERS.saturating_sub(filter.not.len() + filter.only.len());
        let is_full = sentence.not.len() > room || sentence.only.iter().map(Vec::len).sum::<usize>() > room;
        let has_lost = !is_whole && !sentence.only.is_empty();
        if !sentence.is_whole || has_lost || is_full {
            rest.push(text);
        }
        for matcher in sentence.not.into_iter().take(room) {
            if !filter.not.contains(&matcher) {
                filter.not.push(matcher);
            }
        }
        if is_whole && !is_full {
            filter.only.extend(sentence.only);
        }
    }
    filter.rest = (!rest.is_empty()).then(|| rest.join("\n"));
    filter
}

fn sentence(text: &str) -> Sentence {
    let tokens = tokens(text);
    let mut said = Sentence { is_whole: true, ..Sentence::default() };
    for clause in clauses(&tokens) {
        let Some((head, things, is_sure)) = clause_of(clause) else {
            said.is_whole = false;
            continue;
        };
        let scan = Scan::of(things);
        let is_whole = is_sure && scan.is_whole && !scan.found.is_empty();
        said.is_whole &= is_whole;
        match head {
            Head::Not => said.not.extend(scan.found),
            // What is found too widely may be left out, but not told; and “ages in people/” are neither all ages nor all of it.
            Head::Only if is_whole && !scan.is_wide && !scan.is_mixed() => {
                // A line that happens to hold the words may be left out, but not told.
                let found = scan.found.into_iter().filter(|matcher| !matches!(matcher, Matcher::Words(_)));
                said.only.push(found.collect());
            }
            Head::Only => said.is_whole = false,
        }
    }
    if !said.is_whole {
        said.only.clear();
    }
    said
}
