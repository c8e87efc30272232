//! [`Timestamp`], a moment in UTC.
//!
//! Owns how times are written. Never reads a clock: time is a parameter everywhere below the edges.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Microseconds since the start of 1970 in UTC; displayed, and kept, as RFC 3339 in whole seconds.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(i64);

/// The text is no time as memdir writes it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("expected a date such as `2027-01-01`, or a time such as `2027-01-01T09:30:00Z`")]
pub struct NotATime;

impl Timestamp {
    /// Takes microseconds since the start of 1970.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Takes whole seconds since the start of 1970.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    /// Reads a time as it is displayed, or a date alone, which means its first moment in UTC.
    ///
    /// # Errors
    ///
    /// [`NotATime`] for anything else, and for days that no calendar has.
    ///
    /// # Examples
    ///
    /// ```
    /// use memdir_core::time::Timestamp;
    ///
    /// assert_eq!(Timestamp::parse("2027-01-01")?.to_string(), "2027-01-01T00:00:00Z");
    /// assert!(Timestamp::parse("2027-02-29").is_err());
    /// # Ok::<(), memdir_core::time::NotATime>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, NotATime> {
        let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
        let number = |from: usize, to: usize| {
            let digits = whole.get(from..to).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
            digits.and_then(|digits| digits.parse::<i64>().ok()).ok_or(NotATime)
        };
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        // The inverse of what `Display` does.
        let year = if month <= 2 { year - 1 } else { year };
        let month_from_march = (month + 9) % 12;
        let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
        let moment = Self::from_seconds(days * 86_400 + hour * 3_600 + minute * 60 + second);
        // What is written otherwise, or does not exist, comes out as something else.
        if moment.to_string() == whole { Ok(moment) } else { Err(NotATime) }
    }

    /// Reads the last moment of what a text names: of a day in UTC such as `2026-11-21`, or, counted back from `now`, `today`,
    /// `yesterday` or `3d`; or of a second in RFC 3339 such as `2026-11-21T09:30:00Z` or `2026-11-21T10:30:00+01:00`. So all that
    /// happened on that day, or in that second, came before.
    ///
    /// # Errors
    ///
    /// [`NotATime`] for anything else.
    ///
    /// # Examples
    ///
    /// ```
    /// use memdir_core::time::Timestamp;
    ///
    /// let now = Timestamp::parse("2026-11-22T08:00:00Z")?;
    /// let end = Timestamp::parse_end("2026-11-21", now)?;
    /// assert_eq!(end.to_string(), "2026-11-21T23:59:59Z");
    /// assert_eq!(Timestamp::parse_end("yesterday", now)?, end);
    /// assert_eq!(Timestamp::parse_end("2026-11-22T00:59:59+01:00", now)?, end);
    /// # Ok::<(), memdir_core::time::NotATime>(())
    /// ```
    pub fn parse_end(text: &str, now: Self) -> Result<Self, NotATime> {
        const LAST: Duration = Duration::from_micros(999_999);
        let text = text.trim();
        let day = match text {
            "today" => Some(now.day()),
            "yesterday" => Some(now.minus(days(1)).day()),
            _ => text.strip_suffix('d').and_then(|count| count.parse().ok()).map(|count| now.minus(days(count)).day()),
        };
        if let Some(day) = day.as_deref().or(Some(text).filter(|text| text.len() == 10)) {
            return Ok(Self::parse(day)?.plus(Duration::from_secs(86_399)).plus(LAST));
        }
        let (second, zone) = (text.get(..19).ok_or(NotATime)?, text.get(19..).ok_or(NotATime)?);
        // A fraction of the second changes nothing: what is kept of each moment is shown in whole seconds.
        let digits = zone.strip_prefix('.').map(|rest| rest.trim_start_matches(|digit: char| digit.is_ascii_digit()));
        let zone = digits.filter(|rest| rest.len() + 1 < zone.len()).unwrap_or(zone);
        let moment = Self::parse(&format!("{second}Z"))?.plus(LAST);
        if zone == "Z" {
            return Ok(moment);
        }
        // The offset is a time of the first day of 1970, and comes out as such.
        let offset = zone.get(1..).and_then(|offset| Self::parse(&format!("1970-01-01T{offset}:00Z")).ok());
        let offset = Duration::from_micros(u64::try_from(offset.ok_or(NotATime)?.micros()).map_err(|_| NotATime)?);
        match zone.get(..1) {
            Some("+") => Ok(moment.minus(offset)),
            Some("-") => Ok(moment.plus(offset)),
            _ => Err(NotATime),
        }
    }

    /// Its day in UTC, such as `2026-11-21`.
    #[must_use]
    pub fn day(self) -> String {
        self.to_string().chars().take_while(|character| *character != 'T').collect()
    }

    /// Microseconds since the start of 1970.
    #[must_use]
    pub fn micros(self) -> i64 {
        self.0
    }

    /// The moment `span` before this one.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }

    /// The moment `span` after this one.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }

    /// How long after `earlier` this is; nothing when it is not after it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

fn days(count: u32) -> Duration {
    Duration::from_secs(u64::from(count) * 86_400)
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let micros = |span: Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Self(micros(since)),
            Err(before) => Self(micros(before.duration()).saturating_neg()),
        }
    }
}

impl TryFrom<String> for Timestamp {
    type Error = NotATime;

    fn try_from(text: String) -> Result<Self, NotATime> {
        Self::parse(&text)
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

impl fmt::Display for Timestamp {
    /// Writes for example `2026-11-21T09:30:00Z`.
    ///
    /// The date follows from the day's number in the proleptic Gregorian calendar, whose pattern repeats every
    /// 400 years; years are counted from March so that the leap day comes last.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(1_000_000);
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let from_march = days + 719_468;
        let (era, day_of_era) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(formatter, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::{NotATime, Timestamp};

    #[track_caller]
    fn check(seconds: i64, expected: &str) {
        assert_eq!(Timestamp::from_seconds(seconds).to_string(), expected);
        assert_eq!(Timestamp::parse(expected), Ok(Timestamp::from_seconds(seconds)));
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "2027",
            "2027-1-1",
            "2027-02-29",
            "2027-13-01",
            "2027-01-00",
            "2027-01-01T24:00:00Z",
            "2027-01-01T09:30:00+01:00",
            "2027-01-01 09:30:00Z",
            "+027-01-01",
            "2027-01-01T09:30:00.5Z",
            "2027-01-0\u{661}",
        ] {
            assert_eq!(Timestamp::parse(text), Err(NotATime), "{text}");
        }
    }

    #[test]
    fn the_end_of_a_day_and_of_a_second() {
        let now = Timestamp::parse("2026-11-24T23:59:59Z").unwrap();
        let end = |text| Timestamp::parse_end(text, now).map(Timestamp::micros);
        // By the seconds that `date -u -d … +%s` prints.
        assert_eq!(end("2026-11-21"), Ok(1_795_305_599_999_999));
        assert_eq!(end("2026-11-21T09:30:00Z"), Ok(1_795_253_400_999_999));
        assert_eq!(end("2026-11-21T09:30:00.25Z"), end("2026-11-21T09:30:00Z"));
        assert_eq!(end("2026-11-21T11:00:00+01:30"), end("2026-11-21T09:30:00Z"));
        assert_eq!(end("2026-11-20T23:30:00.9-10:00"), end("2026-11-21T09:30:00Z"));
        assert_eq!(end("3d"), end("2026-11-21"));
        assert_eq!((end("yesterday"), end(" today ")), (end("2026-11-23"), end("2026-11-24")));
        assert_eq!(end("0d"), end("today"));
        for text in [
            "",
            "tomorrow",
            "-1d",
            "d",
            "4000000000d",
            "2026-02-30",
            "2026-11-21T09:30:00",
            "2026-11-21T09:30:00.Z",
            "2026-11-21T09:30:00+25:00",
            "2026-11-21T09:30:00+1",
            "2026-11-21T09:30:00*01:00",
            "2026-11-21 09:30:00Z",
            "2026-11-2é",
        ] {
            assert_eq!(end(text), Err(NotATime), "{text}");
        }
    }

    #[test]
    fn known_moments() {
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(1_709_251_199, "2024-02-29T23:59:59Z");
        check(4_107_542_400, "2100-03-01T00:00:00Z");
        check(-1, "1969-12-31T23:59:59Z");
        check(1_795_253_400, "2026-11-21T09:30:00Z");
    }
}
