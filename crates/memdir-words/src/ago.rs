//! When something was, as people say it: in the time of their place, by days, and for what is recent how long ago.

use chrono::{DateTime, Datelike, Days, Local, NaiveTime, Offset, TimeZone};

use memdir_core::time::Timestamp;

/// `2 hours ago`; the time itself where it cannot be read or lies ahead.
#[must_use]
pub fn words(time: &str, now: Timestamp) -> String {
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

/// A moment and the present one, in the time of the person's place.
#[derive(Clone, Debug)]
pub struct Moment<Z: TimeZone = Local> {
    then: DateTime<Z>,
    now: DateTime<Z>,
}

impl Moment {
    /// A time as memdir prints it; `None` where it cannot be read.
    #[must_use]
    pub fn of(time: &str) -> Option<Self> {
        let then = local(Timestamp::parse(time).ok()?)?;
        Some(Self { then, now: local(memdir_host::now())? })
    }
}

impl<Z: TimeZone> Moment<Z>
where
    Z::Offset: std::fmt::Display,
{
    /// `Today`, `Yesterday`, `Friday 20 November`; with the year where it is another one.
    #[must_use]
    pub fn day(&self) -> String {
        let days = self.now.date_naive().signed_duration_since(self.then.date_naive()).num_days();
        match days {
            0 => "Today".to_owned(),
            1 => "Yesterday".to_owned(),
            _ if self.now.year() == self.then.year() => self.then.format("%A %-d %B").to_string(),
            _ => self.then.format("%A %-d %B %Y").to_string(),
        }
    }

    /// `14:05`; with `UTC` where that is the time here, which is also the time where nobody has set a zone.
    #[must_use]
    pub fn clock(&self) -> String {
        let zone = if self.then.offset().fix().local_minus_utc() == 0 { " UTC" } else { "" };
        format!("{}{zone}", self.then.format("%H:%M"))
    }

    /// `2 hours ago` within a day, else the day and the clock: for a place without a headline.
    #[must_use]
    pub fn short(&self) -> String {
        self.recent().unwrap_or_else(|| format!("{}, {}", self.day(), self.clock()))
    }

    /// `2 hours ago` for what was within the last 24 hours.
    #[must_use]
    pub fn recent(&self) -> Option<String> {
        let stamp = |time: &DateTime<Z>| Timestamp::from_micros(time.timestamp_micros());
        let hours = self.now.clone().signed_duration_since(self.then.clone()).num_hours();
        let is_past = self.then.timestamp_micros() <= self.now.timestamp_micros();
        (is_past && hours < 24).then(|| words(&stamp(&self.then).to_string(), stamp(&self.now)))
    }
}

/// How long ago a time was, or when.
#[must_use]
pub fn short(time: &str) -> String {
    Moment::of(time).map_or_else(|| time.to_owned(), |moment| moment.short())
}

/// Reads since when: `today`, `yesterday`, `3d`, `12h`, `2w`, a date, or a time as memdir prints it.
#[must_use]
pub fn since(text: &str) -> Option<Timestamp> {
    since_in(text, &local(memdir_host::now())?)
}

/// The end of a day of the person's place, such as `2026-11-20`.
#[must_use]
pub fn day_end(date: &str) -> Option<Timestamp> {
    let next = date.trim().parse::<chrono::NaiveDate>().ok()?.succ_opt()?;
    since(&next.to_string())
}

fn since_in<Z: TimeZone>(text: &str, now: &DateTime<Z>) -> Option<Timestamp> {
    let text = text.trim().to_lowercase();
    let today = now.date_naive();
    let midnight = |date: chrono::NaiveDate| {
        let zone = now.timezone();
        // Where a day begins with the hour that summer time skips, it begins at its end.
        let hours = (0..3).filter_map(|hour| NaiveTime::from_hms_opt(hour, 0, 0));
        let found = hours.filter_map(|hour| zone.from_local_datetime(&date.and_time(hour)).earliest()).next()?;
        Some(Timestamp::from_micros(found.timestamp_micros()))
    };
    match text.as_str() {
        "today" => return midnight(today),
        "yesterday" => return midnight(today.checked_sub_days(Days::new(1))?),
        _ => {}
    }
    if let Ok(date) = text.parse() {
        return midnight(date);
    }
    if let Ok(time) = Timestamp::parse(&text.to_uppercase()) {
        return Some(time);
    }
    let units = [("m", 60), ("h", 3_600), ("d", 86_400), ("w", 604_800)];
    let (number, seconds) = units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)))?;
    let span: u64 = number.trim_end().parse::<u32>().ok().map(|number| u64::from(number) * seconds)?;
    Some(Timestamp::from_micros(now.timestamp_micros()).minus(std::time::Duration::from_secs(span)))
}

fn local(time: Timestamp) -> Option<DateTime<Local>> {
    Local.timestamp_micros(time.micros()).single()
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::{Moment, TimeZone, since_in, words};
    use memdir_core::time::Timestamp;

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

    fn at(time: &str, hours: i32) -> chrono::DateTime<FixedOffset> {
        let zone = FixedOffset::east_opt(hours * 3_600).unwrap();
        zone.timestamp_micros(Timestamp::parse(time).unwrap().micros()).unwrap()
    }

    #[test]
    fn days_and_hours_are_those_of_the_place() {
        let check = |time: &str, hours: i32, expected: &str| {
            let moment = Moment { then: at(time, hours), now: at("2026-11-23T09:30:00Z", hours) };
            let recent = moment.recent().unwrap_or_default();
            assert_eq!(format!("{} {} {recent}", moment.day(), moment.clock()), expected, "{time} {hours}");
        };
        check("2026-11-23T08:30:00Z", 0, "Today 08:30 UTC 1 hour ago");
        check("2026-11-22T23:30:00Z", 1, "Today 00:30 10 hours ago");
        check("2026-11-22T23:30:00Z", -5, "Yesterday 18:30 10 hours ago");
        check("2026-11-22T09:30:00Z", 0, "Yesterday 09:30 UTC ");
        check("2026-11-20T09:30:00Z", 9, "Friday 20 November 18:30 ");
        check("2025-11-20T09:30:00Z", 9, "Thursday 20 November 2025 18:30 ");
        check("2026-11-23T10:30:00Z", 0, "Today 10:30 UTC ");
        check("2026-11-24T10:30:00Z", 0, "Tuesday 24 November 10:30 UTC ");
    }

    #[test]
    fn since_when() {
        let check = |text: &str, expected: Option<&str>| {
            let found = since_in(text, &at("2026-11-23T09:30:00Z", 2)).map(|time| time.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("today", Some("2026-11-22T22:00:00Z"));
        check("Yesterday", Some("2026-11-21T22:00:00Z"));
        check("2026-11-01", Some("2026-10-31T22:00:00Z"));
        check("2026-11-01T09:00:00Z", Some("2026-11-01T09:00:00Z"));
        check("3d", Some("2026-11-20T09:30:00Z"));
        check("90 m", Some("2026-11-23T08:00:00Z"));
        check("1w", Some("2026-11-16T09:30:00Z"));
        for text in ["", "d", "-1d", "3 years", "2026-13-01", "é"] {
            check(text, None);
        }
    }
}
