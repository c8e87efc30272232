//! [`Period`]: since when, and until when, a fact says that it holds; and whether a whole note belongs to the past.
//!
//! A fact says it at the end of its value, or in brackets anywhere in it: `(2021–2024)`, `(2021-03 – 2022)`, `(2021–)`, `(–2024)`,
//! `since 2021`, `until 2024-05`, `2021-03–2022`; the brackets may be full-width ones. Dates are ISO dates, months or years; `since` and `until` are part of this
//! notation. What a value says besides is the fact; a value that is nothing but two dates is the fact itself, and does not end.
//!
//! A note says it in its front matter: `superseded_by`, `valid_until`, or a `status` that the settings name.

use std::time::Duration;

use memdir_core::report::FactState;
use memdir_core::time::Timestamp;

use super::Note;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The keys of the front matter that set a note aside.
const SUPERSEDED_BY: &str = "superseded_by";
const VALID_UNTIL: &str = "valid_until";
const STATUS: &str = "status";

/// A day, a month or a year, as somebody wrote it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PartialDate {
    /// As it is written, such as `2024-05`.
    pub text: String,
    /// Its first moment, in UTC.
    pub start: Timestamp,
    /// The first moment after it.
    pub end: Timestamp,
}

/// Since when, and until when, something holds; both ends count.
///
/// # Examples
///
/// ```
/// use memdir_core::time::Timestamp;
/// use memdir_note::Period;
///
/// let period = Period::of_value("Initech (2021-03 – 2022)").unwrap();
/// assert_eq!(period.until.as_ref().unwrap().text, "2022");
/// assert!(!period.is_over(Timestamp::parse("2022-12-31")?));
/// assert!(period.is_over(Timestamp::parse("2023-01-01")?));
/// assert_eq!(Period::of_value("2021–2024"), None, "that is the value itself");
/// # Ok::<(), memdir_core::time::NotATime>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Period {
    /// Its beginning; `None` where it is open.
    pub since: Option<PartialDate>,
    /// Its end; `None` where it is open.
    pub until: Option<PartialDate>,
}

/// Why a note belongs to the past.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Past {
    /// It says that another note has taken its place, or has a status that says so.
    Superseded,
    /// It was valid until then.
    Expired(PartialDate),
}

impl Past {
    /// The state of its facts.
    #[must_use]
    pub fn state(&self) -> FactState {
        match self {
            Self::Superseded => FactState::Superseded,
            Self::Expired(_) => FactState::Expired,
        }
    }
}

impl PartialDate {
    /// Reads `2024`, `2024-05` or `2024-05-31`; years from 1000 to 2999.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_year = text.starts_with(['1', '2']);
        let next = |year: &str, month: u32| {
            let year: u32 = year.parse().ok()?;
            let (year, month) = if month < 12 { (year, month + 1) } else { (year + 1, 1) };
            Timestamp::parse(&format!("{year:04}-{month:02}-01")).ok()
        };
        let (start, end) = match text.len() {
            4 if is_year => (Timestamp::parse(&format!("{text}-01-01")).ok()?, next(text, 12)?),
            7 if is_year => {
                let start = Timestamp::parse(&format!("{text}-01")).ok()?;
                (start, next(text.get(..4)?, text.get(5..)?.parse().ok()?)?)
            }
            10 if is_year => {
                let start = Timestamp::parse(text).ok()?;
                (start, start.plus(DAY))
            }
            _ => return None,
        };
        Some(Self { text: text.to_owned(), start, end })
    }

    /// Reads the longest date at the start of a text, and gives the rest.
    fn first(text: &str) -> Option<(Self, &str)> {
        [10, 7, 4].into_iter().find_map(|length| {
            let (date, rest) = text.split_at_checked(length)?;
            let date = Self::parse(date).filter(|_| !rest.starts_with(|next: char| next.is_alphanumeric()))?;
            Some((date, rest))
        })
    }
}

impl Period {
    /// Reads the period that a value says beside something else.
    #[must_use]
    pub fn of_value(value: &str) -> Option<Self> {
        // Most values have no date in them.
        if !value.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Self::in_brackets(value).or_else(|| Self::at_end(value))
    }

    /// Whether its end has passed.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.until.as_ref().is_some_and(|until| until.end <= now)
    }

    /// Whether there is a moment in both.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let is_before = |one: &Self, other: &Self| {
            one.until.as_ref().zip(other.since.as_ref()).is_some_and(|(until, since)| until.end <= since.start)
        };
        !is_before(self, other) && !is_before(other, self)
    }

    fn in_brackets(value: &str) -> Option<Self> {
        let mut rest = value;
        while let Some((open, bracket)) = rest.rmatch_indices(['(', '\u{ff08}']).next() {
            let inner = rest.get(open + bracket.len()..)?;
            let period = inner.find([')', '\u{ff09}']).and_then(|close| {
                let around = [value.get(..open)?, inner.get(close..)?];
                let says_more = around.iter().any(|text| text.contains(char::is_alphanumeric));
                Self::parse(inner.get(..close)?, Form::Bracketed).filter(|_| says_more)
            });
            if period.is_some() {
                return period;
            }
            rest = rest.get(..open)?;
        }
        None
    }

    /// The longest period at the end of a value, behind something else.
    fn at_end(value: &str) -> Option<Self> {
        let value = value.trim_end_matches(|last: char| last == '.' || last.is_whitespace());
        let mut starts = value.char_indices().filter(|(at, _)| {
            let before = value.get(..*at).unwrap_or_default();
            before.is_empty() || before.ends_with(|last: char| last.is_whitespace() || last == ',')
        });
        let period = |(at, _): (usize, char)| {
            let says_more = value.get(..at).unwrap_or_default().contains(char::is_alphanumeric);
            Self::parse(value.get(at..)?, if says_more { Form::Bare } else { Form::Alone })
        };
        starts.find_map(period)
    }

    /// Reads a text that is a period and nothing else.
    fn parse(text: &str, form: Form) -> Option<Self> {
        let text = text.trim();
        if let Some(rest) = word(text, "since") {
            let (since, rest) = PartialDate::first(rest)?;
            let rest = rest.trim_start_matches(',').trim_start();
            let until = if rest.is_empty() { None } else { Some(date_alone(word(rest, "until")?)?) };
            return Some(Self { since: Some(since), until });
        }
        if let Some(rest) = word(text, "until") {
            return Some(Self { since: None, until: Some(date_alone(rest)?) });
        }
        let (since, rest) = match PartialDate::first(text) {
            Some((since, rest)) => (Some(since), rest),
            None => (None, text),
        };
        let rest = rest.trim_start();
        let dash = rest.chars().next().filter(|dash| matches!(dash, '-' | '–' | '—'))?;
        let rest = rest.get(dash.len_utf8()..)?.trim_start();
        let until = if rest.is_empty() { None } else { Some(date_alone(rest)?) };
        let is_whole = since.is_some() && until.is_some();
        let has_month = [&since, &until].into_iter().flatten().any(|date| date.text.len() > 4);
        // Two numbers with a hyphen may be pages, rooms or hours.
        let is_sure = match form {
            Form::Bracketed => true,
            Form::Bare => is_whole && (dash != '-' || has_month),
            Form::Alone => false,
        };
        let is_forward = since.as_ref().zip(until.as_ref()).is_none_or(|(since, until)| since.start < until.end);
        ((since.is_some() || until.is_some()) && is_sure && is_forward).then_some(Self { since, until })
    }
}

/// How a period is written.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Form {
    Bracketed,
    /// Behind something else.
    Bare,
    /// As all that a value says.
    Alone,
}

/// What follows a word of the notation.
fn word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (first, rest) = text.split_at_checked(word.len())?;
    let rest = rest.strip_prefix(char::is_whitespace)?;
    first.eq_ignore_ascii_case(word).then(|| rest.trim_start())
}

fn date_alone(text: &str) -> Option<PartialDate> {
    PartialDate::first(text).filter(|(_, rest)| rest.is_empty()).map(|(date, _)| date)
}

impl Note<'_> {
    /// Why all of the note belongs to the past, by its front matter; `None` where it does not. `past_status` are the values of
    /// `status` that say so, in small letters.
    #[must_use]
    pub fn past(&self, past_status: &[String], now: Timestamp) -> Option<Past> {
        let first = |key: &str| self.front_values(key).into_iter().find(|value| !value.trim().is_empty());
        let is_past = |status: &String| past_status.iter().any(|past| *past == status.trim().to_lowercase());
        if self.front.says(SUPERSEDED_BY) || self.front_values(STATUS).iter().any(is_past) {
            return Some(Past::Superseded);
        }
        let until = first(VALID_UNTIL)?;
        // A time of the day says nothing more here.
        let day = until.trim().get(..10).filter(|day| PartialDate::parse(day).is_some());
        let until = PartialDate::parse(day.unwrap_or_else(|| until.trim()))?;
        (until.end <= now).then_some(Past::Expired(until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `since..until` of a value, as they are written; `-` where it says no period.
    #[track_caller]
    fn check(value: &str, expected: &str) {
        let shown = |date: Option<PartialDate>| date.map_or_else(String::new, |date| date.text);
        let found = Period::of_value(value).map(|period| format!("{}..{}", shown(period.since), shown(period.until)));
        assert_eq!(found.as_deref().unwrap_or("-"), expected, "{value}");
    }

    #[test]
    fn periods_beside_a_value() {
        for (value, expected) in [
            ("Initech (2021–2024)", "2021..2024"),
            ("Initech (2021-2024)", "2021..2024"),
            ("Initech (2021 - 2024-05)", "2021..2024-05"),
            ("Initech (2021-03-2022)", "2021-03..2022"),
            ("Initech (2021-03-01–2022-04-30), in Oslo", "2021-03-01..2022-04-30"),
            ("Initech (2021–)", "2021.."),
            ("Initech (–2024)", "..2024"),
            ("(2021–2024) Initech", "2021..2024"),
            ("Initech (Oslo) (2021–2024)", "2021..2024"),
            ("Initech (2021–2024) (Oslo)", "2021..2024"),
            ("Initech (since 2021)", "2021.."),
            ("Acme\u{ff08}2019–2021\u{ff09}", "2019..2021"),
            ("Initech since 2021", "2021.."),
            ("Initech, since 2021-03 until 2024", "2021-03..2024"),
            ("Initech (since 2021, until 2024)", "2021..2024"),
            ("open Until 2024-05.", "..2024-05"),
            ("until 2024-05", "..2024-05"),
            ("Initech, 2021-03–2022", "2021-03..2022"),
            ("Initech 2021-03-2022", "2021-03..2022"),
            ("Initech 2021–2024", "2021..2024"),
        ] {
            check(value, expected);
        }
    }

    #[test]
    fn what_is_no_period_of_a_value() {
        for value in [
            "2021–2024",
            "(2021–2024)",
            "2021-03-04",
            "2021-03",
            "born 2021-03-04",
            "Initech (2021)",
            "Initech 2021",
            "Initech - 2024",
            "rooms 1900-2000",
            "tel. 2021-4567",
            "ISBN 978-2021",
            "Initech (2024–2021)",
            "Initech (2021–24)",
            "Initech (2021-13–2024)",
            "since her birthday 2021-2",
            "the years 2021–2024 in Oslo",
            "(2021–",
            "été (–)",
            "0999–1200 or so",
            "",
        ] {
            check(value, "-");
        }
    }

    #[test]
    fn an_end_counts_until_it_is_over() {
        for (until, last) in [
            ("2023", "2023-12-31T23:59:59Z"),
            ("2024-02", "2024-02-29T23:59:59Z"),
            ("2023-12", "2023-12-31T23:59:59Z"),
            ("2024-02-29", "2024-02-29T23:59:59Z"),
        ] {
            let period = Period::of_value(&format!("Initech (–{until})")).unwrap();
            let last = Timestamp::parse(last).unwrap();
            assert!(!period.is_over(last) && period.is_over(last.plus(Duration::from_secs(1))), "{until}");
        }
    }

    #[test]
    fn periods_that_share_a_moment_overlap() {
        let period = |text: &str| Period::of_value(&format!("x ({text})")).unwrap();
        for (one, other, expected) in [
            ("2020–2021", "2022–", false),
            ("2020–2021", "2021–2022", true),
            ("2020–2021-05", "2021-06–", false),
            ("–2024", "2020–", true),
            ("–2024", "–1999", true),
        ] {
            assert_eq!(period(one).overlaps(&period(other)), expected, "{one} {other}");
            assert_eq!(period(other).overlaps(&period(one)), expected, "{other} {one}");
        }
        assert!(Period::default().overlaps(&period("2020–2021")));
    }

    #[test]
    fn a_note_says_in_its_front_matter_that_it_belongs_to_the_past() {
        let now = Timestamp::parse("2026-11-24").unwrap();
        let status = ["deprecated".to_owned(), "superseded".to_owned()];
        let state = |front: &str| {
            let text = format!("---\n{front}\n---\n# A\n");
            Note::parse(&text).past(&status, now).map(|past| past.state())
        };
        for (front, expected) in [
            ("superseded_by: \"[[b]]\"", Some(FactState::Superseded)),
            ("superseded_by: b.md", Some(FactState::Superseded)),
            ("superseded_by: [[b]]", Some(FactState::Superseded)),
            ("superseded_by:\n  - - b\nx: y", Some(FactState::Superseded)),
            ("superseded_by: {note: b}", Some(FactState::Superseded)),
            ("superseded_by: []\nx: y", None),
            ("superseded_by: [[]]\nx: [[y]]", None),
            ("superseded_by: null\nx: y", None),
            ("superseded_by: ~", None),
            ("superseded_by:", None),
            ("status: Deprecated", Some(FactState::Superseded)),
            ("status: [draft, superseded]", Some(FactState::Superseded)),
            ("status: current", None),
            ("valid_until: 2026-11-23", Some(FactState::Expired)),
            ("valid_until: 2026-11-24", None),
            ("valid_until: 2026-11", None),
            ("valid_until: 2025", Some(FactState::Expired)),
            ("valid_until: 2026-11-23T10:00:00Z", Some(FactState::Expired)),
            ("valid_until: later", None),
        ] {
            assert_eq!(state(front), expected, "{front}");
        }
        assert_eq!(Note::parse("- status: deprecated\n").past(&status, now), None, "that is about something else");
    }
}
