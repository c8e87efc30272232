//! Whether two values of a fact can both be true.

use super::fact::{Said, ValueForm, Written};
use memdir_note::{PartialDate, words};

/// Whether two values say the same, or one says what the other does and more, as a year and a day of it.
pub(super) fn is_same(one: &Said, other: &Said) -> bool {
    let sign = |said: &Said| said.value.chars().next_back().filter(|last| matches!(last, '+' | '-'));
    if one.value == other.value {
        return true;
    }
    if sign(one).zip(sign(other)).is_some_and(|(one, other)| one != other) {
        return false;
    }
    let number = |said: &Said| said.value.parse::<f64>().ok();
    if let Some((one, other)) = number(one).zip(number(other)) {
        return one.total_cmp(&other).is_eq();
    }
    // The parts of an address add no detail to each other.
    let is_address = |said: &Said| said.value.contains('@') && !said.value.contains(char::is_whitespace);
    if is_address(one) && is_address(other) {
        return false;
    }
    let words = |said: &Said| words_of(day(&said.value).as_deref().unwrap_or(&said.value));
    let (one, other) = (words(one), words(other));
    one.iter().all(|word| other.contains(word)) || other.iter().all(|word| one.contains(word))
}

/// Whether the times for which two facts are said have a moment in common. What says no time is said of today, and what has
/// an end is taken to be over by then.
fn overlaps(one: &Said, other: &Said) -> bool {
    let is_over = |one: &Said, other: &Said| one.time.1.is_some() && other.time == (None, None);
    if is_over(one, other) || is_over(other, one) {
        return false;
    }
    let is_before = |one: &Said, other: &Said| one.time.1.zip(other.time.0).is_some_and(|(end, start)| end <= start);
    !is_before(one, other) && !is_before(other, one)
}

/// Whether two facts of one key and one subject cannot both be true, if the key has one value.
pub(super) fn excludes(one: &Said, other: &Said) -> bool {
    is_comparable(one)
        && is_comparable(other)
        && !is_same(one, other)
        && overlaps(one, other)
        && may_be_facts(one, other)
        && !are_labelled(one, other)
}

/// Whether both are facts, or one is, and the other has the look of one. Then each value is a name: below most headings there is
/// prose.
fn may_be_facts(one: &Said, other: &Said) -> bool {
    match [one, other].iter().filter(|said| said.written == Written::Pair).count() {
        2 => true,
        1 => [one, other].iter().all(|said| said.form != ValueForm::Words),
        _ => false,
    }
}

/// Whether each value says in brackets at its end of what it is the value, and they say different things, as `(home)` and
/// `(work)` do.
fn are_labelled(one: &Said, other: &Said) -> bool {
    let label = |said: &Said| {
        let inner = said.value.strip_suffix(')')?;
        inner.rfind('(').and_then(|open| inner.get(open + 1..)).map(str::to_owned)
    };
    label(one).zip(label(other)).is_some_and(|(one, other)| one != other)
}

/// Whether a value says what can be compared.
pub(super) fn is_comparable(fact: &Said) -> bool {
    !fact.value.is_empty() && fact.form != ValueForm::Several
}

/// A value that is nothing but a day, its year first, as ISO writes it: `20230913`, `2023/09/13`, `2023.09.13`.
fn day(value: &str) -> Option<String> {
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    let (year, month, day) = (digits.get(..4)?, digits.get(4..6)?, digits.get(6..8)?);
    let is_day = ["", "/", "."].iter().any(|mark| value == [year, month, day].join(mark));
    let day = [year, month, day].join("-");
    (is_day && PartialDate::parse(&day).is_some()).then_some(day)
}

/// The words of a value, those of a date as people say it.
fn words_of(value: &str) -> Vec<String> {
    let mut found = Vec::new();
    words::each(value, &mut |word, _| found.push(word.to_owned()));
    found
}
