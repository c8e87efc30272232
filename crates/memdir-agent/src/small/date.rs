//! Dates that the program computes from today: a model says `{next friday}`, and never counts days itself.

use memdir_core::time::Timestamp;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;
/// The days of a week, from the one after which the days since 1970 are counted in sevens.
const WEEKDAYS: [&str; 7] = ["thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday"];

/// Today, with the day of the week: `2026-11-24, tuesday`.
pub(crate) fn today(now: Timestamp) -> String {
    let day = now.micros().div_euclid(DAY);
    let weekday = usize::try_from(day.rem_euclid(7)).ok().and_then(|day| WEEKDAYS.get(day));
    format!("{}, {}", date(day).unwrap_or_default(), weekday.unwrap_or(&""))
}

/// A date that is written out, such as `2027-05-02` for “2 May”: its day is a number of the message, and its year too, or it is near.
pub(super) fn written(expression: &str, message: &str, now: Timestamp) -> Option<String> {
    let date = Timestamp::parse(expression).ok().filter(|_| expression.len() == 10)?;
    let day = date.micros().div_euclid(DAY);
    let numbers: Vec<i64> =
        message.split(|one: char| !one.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
    let (year, this) = (part(day, 0..4)?, part(now.micros().div_euclid(DAY), 0..4)?);
    let is_said = numbers.contains(&part(day, 8..10)?) && (numbers.contains(&year) || (year - this).abs() <= 1);
    is_said.then(|| expression.to_owned())
}

/// The date that an expression of the grammar means, such as `next friday`, `in 3 days` or `2 weeks ago`; `None` for one that it does not have.
pub(super) fn resolve(expression: &str, now: Timestamp) -> Option<String> {
    let today = now.micros().div_euclid(DAY);
    let words: Vec<&str> = expression.split_whitespace().collect();
    match words.as_slice() {
        ["today"] => date(today),
        ["tomorrow"] => date(today + 1),
        ["yesterday"] => date(today - 1),
        ["in", count, unit] => shifted(today, count.parse::<i16>().ok()?.into(), unit),
        [count, unit, "ago"] => shifted(today, -i64::from(count.parse::<i16>().ok()?), unit),
        [which @ ("this" | "next" | "last"), unit] => {
            if let Some(weekday) = WEEKDAYS.iter().position(|weekday| weekday == unit) {
                let ahead = (i64::try_from(weekday).ok()? - today).rem_euclid(7);
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
        ] {
            assert_eq!(resolve(expression, now).as_deref(), Some(expected), "{expression}");
        }
        for (expression, message, is_said) in [
            ("2027-05-02", "am 2. Mai", true),
            ("2025-05-02", "on 2 May", true),
            ("2019-05-02", "on 2 May", false),
            ("2019-05-02", "2019年5月2日", true),
            ("2027-05-03", "am 2. Mai", false),
            ("2027-02-30", "am 30.", false),
            ("2 May", "on 2 May", false),
        ] {
            assert_eq!(written(expression, message, now).is_some(), is_said, "{expression} {message}");
        }
        for not in ["", "soon", "in x days", "next", "in 1 decades", "in 99999 weeks"] {
            assert_eq!(resolve(not, now), None, "{not}");
        }
    }
}
