//! Times as RFC 3339 writes them, in UTC.

/// Writes seconds since 1970 as `2026-11-21T09:30:00Z`.
///
/// The calendar is the Gregorian one, also for days before it was used.
pub(crate) fn rfc3339(seconds: i64) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years have 365 or 366 days, so the year lies between the two quotients; halve until it is found.
    let (one, other) = (days.div_euclid(365), days.div_euclid(366));
    let (mut low, mut high) = (1969 + one.min(other), 1971 + one.max(other));
    while low < high {
        let middle = low + (high - low + 1) / 2;
        if first_day(middle) <= days { low = middle } else { high = middle - 1 }
    }
    let mut day = days - first_day(low);
    let february = first_day(low + 1) - first_day(low) - 337;
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{low:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", day + 1)
}

/// The days from 1970 to the first of a year.
fn first_day(year: i64) -> i64 {
    let before = year - 1;
    365 * (year - 1970) + before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400) - 477
}
