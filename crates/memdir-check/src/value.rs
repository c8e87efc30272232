//! Whether two values of a fact can both be true.

use super::fact::{Said, ValueForm};
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
    if let (Some(one), Some(other)) = (numbers(&one.value), numbers(&other.value)) {
        return one.iter().any(|one| other.iter().any(|other| one.total_cmp(other).is_eq()));
    }
    // The parts of an address add no detail to each other.
    if let (Some(one), Some(other)) = (address(&one.value), address(&other.value)) {
        return one == other;
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
        && !are_labelled(one, other)
        && !may_be_one_amount(&one.value, &other.value)
        // Each of two sentences tells of something of its own.
        && !(one.is_in_sentence && other.is_in_sentence)
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

/// Whether a value says what can be compared: `?` and `…` say nothing.
pub(super) fn is_comparable(fact: &Said) -> bool {
    fact.value.contains(char::is_alphanumeric) && fact.form != ValueForm::Several
}

/// The numbers that a value can be: `750,000` with its thousands apart is `750000`, and `1.250` may be so, too. `None` where it is
/// none.
fn numbers(value: &str) -> Option<Vec<f64>> {
    let grouped = |mark: char| {
        let mut groups = value.split(mark);
        let first = groups.next().filter(|first| (1..=3).contains(&first.len()))?;
        let rest: Vec<&str> = groups.collect();
        let is_grouped = !rest.is_empty() && rest.iter().all(|group| group.len() == 3);
        let digits = [first].iter().chain(&rest).copied().collect::<String>();
        let is_number = is_grouped && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok()).flatten()
    };
    let plain = value.parse().ok();
    let found: Vec<f64> = plain.into_iter().chain([',', '.', '\'', ' '].into_iter().filter_map(grouped)).collect();
    (!found.is_empty()).then_some(found)
}

/// The address that a value is, as in `ada@b.org` and `<mailto:ada@b.org>`.
fn address(value: &str) -> Option<&str> {
    let bare = value.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or(value);
    let bare = bare.strip_prefix("mailto:").unwrap_or(bare);
    let (name, host) = bare.split_once('@')?;
    let is_part =
        |part: &str| !part.is_empty() && !part.contains(|one: char| one.is_whitespace() || "@/:<>".contains(one));
    (is_part(name) && is_part(host)).then_some(bare)
}

/// Whether both values are the same digits with another unit behind them: `171 cm` and `1.71 m` may say the same.
fn may_be_one_amount(one: &str, other: &str) -> bool {
    let amount = |value: &str| {
        let (number, unit) = value.split_once(char::is_whitespace)?;
        let is_number = number.chars().all(|one| one.is_ascii_digit() || matches!(one, '.' | ',' | '\''));
        let digits: String = number.chars().filter(char::is_ascii_digit).collect();
        let digits = digits.trim_matches('0').to_owned();
        (is_number && !digits.is_empty() && !unit.contains(char::is_whitespace)).then(|| (digits, unit.to_owned()))
    };
    amount(one).zip(amount(other)).is_some_and(|(one, other)| one.0 == other.0 && one.1 != other.1)
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
