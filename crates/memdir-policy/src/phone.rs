//! Whether digits stand together as those of a phone number do, in whatever country, with no word beside them.
//!
//! A library of all numbering plans wants to know the country first, which a note does not say. What is written for people to
//! dial is told by its shape: how many digits, in what groups, and that it is none of the other things that are written so,
//! which are dates, sums, addresses of machines and the numbers of books.

use super::finding::Finding;

/// A number whose shape is that of a phone number.
pub(super) fn is_number(found: &Finding<'_>) -> bool {
    let text = found.text.trim_end_matches(|one: char| !one.is_ascii_digit());
    let groups: Vec<&str> = text.split(|one: char| !one.is_ascii_digit()).filter(|group| !group.is_empty()).collect();
    let digits: usize = groups.iter().map(|group| group.len()).sum();
    let is_other = || is_date(&groups) || is_sum(text, &groups) || groups.iter().all(|group| is_year(group));
    if touches_more(found, text) || !is_balanced(text) || is_other() {
        return false;
    }
    let after_code = text.strip_prefix('+').or_else(|| text.strip_prefix("00"));
    match after_code {
        Some(rest) if !rest.starts_with('0') => (8..=17).contains(&digits) && (groups.len() > 1 || digits >= 10),
        _ => (7..=15).contains(&digits) && is_national(text, &groups, digits),
    }
}

/// Whether it is the part of a longer number, a word, a price or an address on the web.
fn touches_more(found: &Finding<'_>, text: &str) -> bool {
    let mut before = found.before.chars().rev();
    let mut after = found.text.get(text.len()..).unwrap_or_default().chars().chain(found.after.chars());
    let (last, next_to_last) = (before.next(), before.next());
    let (first, second) = (after.next(), after.next());
    let is_digit = |one: Option<char>| one.is_some_and(|one| one.is_ascii_digit());
    last.is_some_and(|one| one.is_alphanumeric() || "_#$€£¥%/\\=&@^.-+".contains(one))
        || matches!(last, Some(',' | ':' | '\'')) && is_digit(next_to_last)
        || first.is_some_and(|one| one.is_alphanumeric() || "_%/€$°".contains(one))
        || matches!(first, Some('.' | ',' | '-' | ':' | '\'' | '+')) && is_digit(second)
}

/// Whether brackets in it open and close.
fn is_balanced(text: &str) -> bool {
    text.matches('(').count() == text.matches(')').count() && text.find('(') <= text.find(')')
}

/// A number as it is dialled within a country.
fn is_national(text: &str, groups: &[&str], digits: usize) -> bool {
    let sizes: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let leads = |marks: &str| text.trim_start_matches('(').starts_with(|one| marks.contains(one));
    let all_of = |least: usize| sizes.iter().all(|size| *size >= least);
    match sizes.as_slice() {
        [_] => (10..=11).contains(&digits) && (leads("0") || is_undivided(text)),
        // An area in brackets, or a zero before it.
        [first, ..] if text.starts_with('(') => *first > 1 && all_of(2),
        _ if leads("0") => digits >= 8 && all_of(2),
        [3, 4] => text.contains('-') && leads("23456789"),
        [5, 5] => leads("6789"),
        [3, 6 | 7] => leads("3"),
        [3, 3, 4] | [1, 3, 3, 4] | [1, 3, 3, 2, 2] => true,
        [3, 3, 3] => leads("56789"),
        [3, 2, 4] => false,
        [2, 2, 2, 2] => !text.contains(['.', '/', '-']),
        many => {
            let is_of_fractions = text.contains('.') && text.contains(' ');
            (9..=12).contains(&digits)
                && many.len() > 2
                && many.iter().all(|size| (2..=4).contains(size))
                && !is_of_fractions
        }
    }
}

/// Digits that nothing divides: eleven as in China, ten as in America.
fn is_undivided(digits: &str) -> bool {
    let is = |at: usize, least: u8| digits.as_bytes().get(at).is_some_and(|digit| *digit >= least);
    match digits.len() {
        11 => digits.starts_with('1') && is(1, b'3'),
        10 => is(0, b'2') && is(3, b'2'),
        _ => false,
    }
}

/// A day, with or without a time behind it, or the number of a book.
fn is_date(groups: &[&str]) -> bool {
    let is = |group: &str| group.len() <= 2 && group.parse().is_ok_and(|number: u32| (1..=31).contains(&number));
    match groups {
        [year, month, ..] if is_year(year) && is(month) => true,
        [day, month, year, ..] if is(day) && is(month) => is_year(year),
        ["978" | "979", _, ..] => true,
        _ => false,
    }
}

fn is_year(group: &str) -> bool {
    group.len() == 4 && (group.starts_with("19") || group.starts_with("20"))
}

/// A large number in groups of three, or the address of a machine.
fn is_sum(text: &str, groups: &[&str]) -> bool {
    let Some((first, rest)) = groups.split_first() else { return false };
    if first.starts_with('0') || text.contains(['-', '(', '/', '+']) {
        return false;
    }
    let is_grouped = !rest.is_empty() && rest.iter().all(|group| group.len() == 3);
    let may_be_phone = first.len() == 3 && rest.len() == 2 && !text.contains('.') && !text.ends_with("000");
    let is_machine =
        text.split('.').count() == 4 && groups.iter().all(|part| part.parse().is_ok_and(|it: u32| it < 256));
    is_grouped && !may_be_phone || is_machine
}
