//! Dates that the program computes from today: a model says `next friday`, and never counts days itself.

use memdir_core::time::Timestamp;
use memdir_model::grammar::{self, WEEKDAYS};
use memdir_model::{Answer, Request};
use serde_json::json;

use super::{SURE, request, shape};
use crate::prompt;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;
/// The place among [`WEEKDAYS`] of the day from which the days since 1970 are counted.
const FIRST_WEEKDAY: i64 = 3;
/// A count has at most so many digits.
const MOST_DIGITS: usize = 2;
/// How many tokens a day may have, also where a server wraps it in JSON.
const MAX_TOKENS: u32 = 24;
/// How likely the least likely token of a day must be, in thousandths. In five suites of strangers 25 messages tell of a day: by this the 1.5B names 16
/// of them, another one for three, and one for two of 125 other messages.
const SURE_OF_DAY: u16 = 400;

/// Today, with the day of the week: `2026-11-24, tuesday`.
pub(crate) fn today(now: Timestamp) -> String {
    let day = now.micros().div_euclid(DAY);
    let weekday = usize::try_from((day + FIRST_WEEKDAY).rem_euclid(7)).ok().and_then(|day| WEEKDAYS.get(day));
    format!("{}, {}", date(day).unwrap_or_default(), weekday.unwrap_or(&""))
}

/// How a small model is asked which day a sentence tells of.
pub(super) fn day(prompt: &str, sentence: &str) -> Request {
    let (system, messages) = prompt::examples(prompt);
    let shape = shape(grammar::day(), &json!({"kind": {"type": "string"}}));
    request((system.to_owned(), messages), prompt::fenced(sentence).into_owned(), Some(shape), MAX_TOKENS)
}

/// The day that a model named, in the words of the grammar; `None` where it named none, or was not sure of it.
pub(super) fn named(answer: &Answer, now: Timestamp) -> Option<String> {
    let is_sure = answer.line_chances.first().copied().unwrap_or(SURE) >= SURE_OF_DAY;
    let day = answer.text.split_whitespace().collect::<Vec<_>>().join(" ");
    (is_sure && resolve(&day, now).is_some()).then_some(day)
}

/// What stands behind a line with a day: its date, and what that was counted from.
///
/// ` (2026-11-27, next friday from 2026-11-23)`
pub(super) fn mark(day: &str, now: Timestamp) -> Option<String> {
    Some(format!(" ({}, {day} from {})", resolve(day, now)?, resolve("today", now)?))
}

/// A line without the marks of its days, and the day of each with the date that it was counted from.
pub(super) fn marked(line: &str) -> (&str, Vec<(&str, Timestamp)>) {
    let read = |inside: &'_ str| -> Option<(usize, Timestamp)> {
        let (date, rest) = inside.strip_suffix(')')?.split_once(", ")?;
        let (day, from) = rest.rsplit_once(" from ")?;
        let from = Timestamp::parse(from).ok()?;
        // Only the program counts so: what a person writes in brackets is theirs.
        (resolve(day, from).as_deref() == Some(date)).then_some((day.len(), from))
    };
    let (mut rest, mut days) = (line, Vec::new());
    while let Some((before, inside)) = rest.rsplit_once(" (")
        && let Some((length, from)) = read(inside)
    {
        let day = inside.split_once(", ").and_then(|(_, day)| day.get(..length)).unwrap_or_default();
        days.push((day, from));
        rest = before;
    }
    (rest, days)
}

/// The date that an expression of the grammar means, such as `next friday`, `in 3 days` or `2 weeks ago`; `None` for one that it does not have.
pub(super) fn resolve(expression: &str, now: Timestamp) -> Option<String> {
    let today = now.micros().div_euclid(DAY);
    let words: Vec<&str> = expression.split_whitespace().collect();
    let count = |count: &str| {
        count
            .parse::<i64>()
            .ok()
            .filter(|_| count.len() <= MOST_DIGITS && count.bytes().all(|one| one.is_ascii_digit()))
    };
    match words.as_slice() {
        ["today"] => date(today),
        ["tomorrow"] => date(today + 1),
        ["tomorrow", "in", weeks, unit @ ("week" | "weeks")] => shifted(today + 1, count(weeks)?, unit),
        [weekday, "in", weeks, unit @ ("week" | "weeks")] if WEEKDAYS.contains(weekday) => {
            let next = Timestamp::parse(&resolve(&format!("next {weekday}"), now)?).ok()?;
            shifted(next.micros().div_euclid(DAY), count(weeks)?, unit)
        }
        ["yesterday"] => date(today - 1),
        ["in", units, unit] => shifted(today, count(units)?, unit),
        [units, unit, "ago"] => shifted(today, -count(units)?, unit),
        [which @ ("this" | "next" | "last"), unit] => {
            if let Some(weekday) = WEEKDAYS.iter().position(|weekday| weekday == unit) {
                let ahead = (i64::try_from(weekday).ok()? - FIRST_WEEKDAY - today).rem_euclid(7);
                return date(match *which {
                    "last" => today + ahead - 7,
                    "next" if ahead == 0 => today + 7,
                    _ => today + ahead,
                });
            }
            let steps = match *which {
                "last" => -1,
                "next" => 1,
                _ => 0,
            };
            shifted(today, steps, unit)
        }
        _ => None,
    }
}

/// The day, or for months and years the month or the year, so many units from a day.
fn shifted(today: i64, count: i64, unit: &str) -> Option<String> {
    match unit.strip_suffix('s').unwrap_or(unit) {
        "day" => date(today + count),
        "week" => date(today + 7 * count),
        "month" => {
            let months = part(today, 0..4)? * 12 + part(today, 5..7)? - 1 + count;
            Some(format!("{:04}-{:02}", months.div_euclid(12), months.rem_euclid(12) + 1))
        }
        "year" => Some(format!("{:04}", part(today, 0..4)? + count)),
        _ => None,
    }
}

fn date(day: i64) -> Option<String> {
    Timestamp::from_micros(day.checked_mul(DAY)?).to_string().get(..10).map(str::to_owned)
}

/// A number of a date as it is written.
fn part(day: i64, range: std::ops::Range<usize>) -> Option<i64> {
    date(day)?.get(range)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_counted_from_today() {
        // A Monday, by `date -d 2026-11-23 +%A`; the others by `date -d '2026-11-23 …'`.
        let now = Timestamp::parse("2026-11-23T22:30:00Z").unwrap();
        for (expression, expected) in [
            ("today", "2026-11-23"),
            ("tomorrow", "2026-11-24"),
            ("yesterday", "2026-11-22"),
            ("next friday", "2026-11-27"),
            ("this friday", "2026-11-27"),
            ("next monday", "2026-11-30"),
            ("this monday", "2026-11-23"),
            ("last monday", "2026-11-16"),
            ("last sunday", "2026-11-22"),
            ("in 10 days", "2026-12-03"),
            ("3 weeks ago", "2026-11-02"),
            ("next week", "2026-11-30"),
            ("in 2 months", "2027-01"),
            ("last year", "2025"),
            ("saturday in 3 weeks", "2026-12-19"),
            ("tomorrow in 1 week", "2026-12-01"),
        ] {
            assert_eq!(resolve(expression, now).as_deref(), Some(expected), "{expression}");
        }
        for not in ["", "soon", "in x days", "next", "in 1 decades", "in 99999 weeks", "none", "friday"] {
            assert_eq!(resolve(not, now), None, "{not}");
        }
        for not in ["friday in 2 PIN:4711", "tomorrow in 1 day", "in -3 days", "in +3 days", "in 100 days"] {
            assert_eq!(resolve(not, now), None, "{not}");
        }
        let line = "dentist next friday (2026-11-27, next friday from 2026-11-23)";
        assert_eq!(
            marked(line),
            ("dentist next friday", vec![("next friday", Timestamp::parse("2026-11-23").unwrap())])
        );
        let (rest, days) = marked("x (2026-11-27, next friday from 2026-11-23) (2026-11-24, tomorrow from 2026-11-23)");
        assert_eq!((rest, days.len()), ("x", 2));
        for plain in [
            "tea (green)",
            "left (2019, from Oslo)",
            "moved (from 2026-11-23",
            "lease (signed copy from 2025-01-01)",
            "lease (2025-01-01, signed copy from 2025-01-01)",
            "paid (2026-11-26, next friday from 2026-11-23)",
            "",
        ] {
            assert_eq!(marked(plain), (plain, Vec::new()));
        }
    }
}
