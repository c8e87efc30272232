//! What is said, without what was not to be said.

use super::{WITHHELD, finds};
use memdir_policy::Filter;

/// How often a text is gone through again, for what stood apart may stand together now.
const ROUNDS: usize = 3;

/// Takes out of a text what filters find in it: the sentences, or whole lines where a sentence alone does not tell.
///
/// In what is left nothing is found, whatever the text and the filters are.
pub(crate) fn withhold(text: &str, filters: &[Filter]) -> String {
    if !finds(filters, text) {
        return text.to_owned();
    }
    // A filter can be about the words that stand for what was taken out.
    let mark = [WITHHELD, "…"].into_iter().find(|mark| !finds(filters, mark)).unwrap_or_default();
    let mut text = text.to_owned();
    for round in 0..ROUNDS {
        text = filters.iter().fold(text, |text, filter| without(&text, filter, mark, round == 0));
        if !finds(filters, &text) {
            return text;
        }
    }
    mark.to_owned()
}

/// One round with one filter. `by_sentence` leaves the other sentences of a line.
fn without(text: &str, filter: &Filter, mark: &str, by_sentence: bool) -> String {
    let mut hidden = filter.find(text).into_iter().map(|found| (found.line, found.last)).peekable();
    let mut left = String::with_capacity(text.len());
    let mut until = 0;
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        let mut is_alone = true;
        while let Some((_, last)) = hidden.next_if(|(first, _)| *first <= number) {
            is_alone &= last == number;
            until = until.max(last);
        }
        let body = line.trim_end_matches(['\n', '\r']);
        let is_alone = is_alone && until == number;
        if number > until {
            left.push_str(line);
            continue;
        }
        let sentences = (by_sentence && is_alone).then(|| sentences_without(body, filter, mark)).flatten();
        let body_left = sentences.unwrap_or_else(|| mark.to_owned());
        if body_left.trim() == mark && !mark.is_empty() && left.trim_end().ends_with(mark) {
            continue;
        }
        left.push_str(&body_left);
        left.push_str(line.get(body.len()..).unwrap_or_default());
    }
    left
}

/// A line without those of its sentences in which something is found; `None` where that does not tell.
fn sentences_without(line: &str, filter: &Filter, mark: &str) -> Option<String> {
    let mut left = String::with_capacity(line.len());
    let mut is_any = false;
    for sentence in crate::sentence::of(line).map(|range| line.get(range).unwrap_or_default()) {
        if filter.find(sentence).is_empty() {
            left.push_str(sentence);
            continue;
        }
        is_any = true;
        let body = sentence.trim();
        let at = sentence.find(body).unwrap_or_default();
        if mark.is_empty() || !left.trim_end().ends_with(mark) {
            left.push_str(sentence.get(..at).unwrap_or_default());
            left.push_str(mark);
            left.push_str(sentence.get(at + body.len()..).unwrap_or_default());
        }
    }
    is_any.then_some(left)
}
