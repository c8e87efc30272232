//! How long ago something was, as people say it.

use crate::time::Timestamp;

/// `2 hours ago`; the time itself where it cannot be read or lies ahead.
pub(super) fn words(time: &str, now: Timestamp) -> String {
    let Ok(then) = Timestamp::parse(time) else { return time.to_owned() };
    let seconds = (now.micros() - then.micros()) / 1_000_000;
    let units = [(31_557_600, "year"), (2_629_800, "month"), (86_400, "day"), (3_600, "hour"), (60, "minute")];
    if seconds < 0 {
        return time.to_owned();
    }
    match units.into_iter().find(|(length, _)| seconds >= *length) {
        Some((length, unit)) if seconds / length == 1 => format!("1 {unit} ago"),
        Some((length, unit)) => format!("{} {unit}s ago", seconds / length),
        None => "just now".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::words;
    use crate::time::Timestamp;

    #[test]
    fn a_time_is_told_as_people_say_it() {
        let now = Timestamp::parse("2026-11-23T09:30:00Z").unwrap();
        for (time, expected) in [
            ("2026-11-23T09:29:30Z", "just now"),
            ("2026-11-23T09:29:00Z", "1 minute ago"),
            ("2026-11-23T07:31:00Z", "1 hour ago"),
            ("2026-11-23T07:30:00Z", "2 hours ago"),
            ("2026-11-21T09:30:00Z", "2 days ago"),
            ("2024-11-01T09:30:00Z", "2 years ago"),
            ("2026-11-23T09:31:00Z", "2026-11-23T09:31:00Z"),
            ("soon", "soon"),
        ] {
            assert_eq!(words(time, now), expected);
        }
    }
}
