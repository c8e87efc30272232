//! [`Query`]: what a search asks for: words, and operators that say which notes may answer.
//!
//! Owns how operators are written and what each asks of a note: `tag:work` and `#work`, `is:task` and `is:done`,
//! `since:2026-11-01` and `since:7d`, `path:projects/`. What stands in quotes is text, and so is a word with a colon that
//! is no operator. Touches nothing but text; what time it is, and when a file was changed, is told.

use memdir_core::catalog::shorten;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;
use memdir_note::{Note, Task, folded, tag_length};

const DAY: i64 = 86_400;
/// The keys of the front matter under which a note says of when it is.
const DATES: [&str; 3] = ["date", "created", "updated"];

/// How values of `is:` and `since:` are written.
const IS: &str = "`is:task` for what is to do, or `is:done`";
const SINCE: &str = "a date, `since:2026-11-01`, or days, `since:7d`";

/// A query taken apart.
#[derive(Debug)]
pub(super) struct Query {
    /// What is looked for: the query without its operators.
    pub(super) text: String,
    pub(super) operators: Operators,
}

/// What a query asks of every note that may answer it; without any operator, nothing.
#[derive(Debug, Default)]
pub(super) struct Operators {
    /// As they were typed.
    typed: Vec<String>,
    tags: Vec<String>,
    paths: Vec<String>,
    wants_open: bool,
    wants_done: bool,
    since: Vec<Since>,
}

/// A moment from which on a note has to be.
#[derive(Clone, Copy, Debug)]
enum Since {
    /// In seconds since 1970.
    Date(i64),
    /// The beginning of the day that is so many days ago.
    DaysAgo(u32),
}

/// What the text and the name of a note say to the operators that it fits, but for `since:`.
#[derive(Debug)]
pub(super) struct Fitting {
    /// The latest date that the note states, in seconds since 1970.
    pub(super) stated: Option<i64>,
    /// The lines of the tasks that were asked for.
    pub(super) tasks: Vec<usize>,
}

impl Query {
    /// Takes the operators out of a query.
    ///
    /// # Errors
    ///
    /// `invalid_pattern` for an operator with a value that it does not know, and for one without a value that is all there is.
    pub(super) fn parse(query: &str) -> Result<Self, Failure> {
        let mut operators = Operators::default();
        let mut text = String::new();
        let mut rest = query;
        while !rest.is_empty() {
            let blank = rest.len() - rest.trim_start().len();
            let (blanks, after) = rest.split_at_checked(blank).unwrap_or((rest, ""));
            let (word, next) = after.split_at_checked(length_of_word(after)).unwrap_or((after, ""));
            if operators.take(word)? {
                operators.typed.push(word.to_owned());
            } else {
                text.push_str(blanks);
                text.push_str(word);
            }
            rest = next;
        }
        if let Some(known) = text.trim().strip_suffix(':').and_then(known_values) {
            return Err(unknown(text.trim(), known));
        }
        // A query without operators is looked for as it stands, with the blanks around it.
        let text = if operators.is_empty() { text } else { text.trim().to_owned() };
        Ok(Self { text, operators })
    }

    /// A query in which nothing is an operator.
    pub(super) fn plain(query: &str) -> Self {
        Self { text: query.to_owned(), operators: Operators::default() }
    }
}

impl Operators {
    /// Whether nothing is asked of a note.
    pub(super) fn is_empty(&self) -> bool {
        self.typed.is_empty()
    }

    /// Whether tasks are asked for.
    pub(super) fn want_tasks(&self) -> bool {
        self.wants_open || self.wants_done
    }

    /// A text with the operators before it, as it would be typed.
    pub(super) fn with(&self, text: &str) -> String {
        let words = self.typed.iter().map(String::as_str).chain([text]);
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Takes a word of a query; answers whether it is an operator.
    fn take(&mut self, word: &str) -> Result<bool, Failure> {
        if let Some(tag) = word.strip_prefix('#') {
            let is_tag = !tag.is_empty() && tag_length(tag) == tag.len();
            if is_tag {
                self.tags.push(tag_as_compared(tag));
            }
            return Ok(is_tag);
        }
        let Some((name, value)) = word.split_once(':') else { return Ok(false) };
        let value = value.strip_prefix('"').map_or(value, |value| value.strip_suffix('"').unwrap_or(value));
        if value.is_empty() {
            return Ok(false);
        }
        match name.to_ascii_lowercase().as_str() {
            "tag" => self.tags.push(tag_as_compared(value)),
            "path" => self.paths.push(folded(value)),
            "is" => match value.to_ascii_lowercase().as_str() {
                "task" => self.wants_open = true,
                "done" => self.wants_done = true,
                _ => return Err(unknown(word, IS)),
            },
            "since" => {
                let since = Since::parse(value);
                self.since.push(since.ok_or_else(|| unknown(word, SINCE))?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What a note says to the operators; `None` for one that does not fit them. `since:` is for [`Operators::is_since`].
    pub(super) fn fitting(&self, path: &MemoryPath, text: &str) -> Option<Fitting> {
        let name = folded(path.as_str());
        if !self.paths.iter().all(|wanted| is_below(&name, wanted)) {
            return None;
        }
        if self.want_tasks() && !text.contains('[') {
            return None;
        }
        let note = Note::parse(text);
        if !self.tags.is_empty() {
            let tags: Vec<String> = note.tags().iter().map(|tag| folded(tag)).collect();
            let has = |wanted: &String| tags.iter().any(|tag| is_within(tag, wanted));
            if !self.tags.iter().all(has) {
                return None;
            }
        }
        let tasks = self.tasks(&note);
        let has = |is_done: bool| tasks.iter().any(|task| task.is_done == is_done);
        if (self.wants_open && !has(false)) || (self.wants_done && !has(true)) {
            return None;
        }
        Some(Fitting { stated: stated(path, &note), tasks: lines_of(&tasks) })
    }

    /// The lines of the tasks of a note that are asked for.
    pub(super) fn task_lines(&self, note: &Note<'_>) -> Vec<usize> {
        lines_of(&self.tasks(note))
    }

    fn tasks(&self, note: &Note<'_>) -> Vec<Task> {
        let mut tasks = if self.want_tasks() { note.tasks() } else { Vec::new() };
        tasks.retain(|task| if task.is_done { self.wants_done } else { self.wants_open });
        tasks
    }

    /// Whether a moment is late enough; both in seconds since 1970.
    pub(super) fn is_since(&self, moment: i64, now: i64) -> bool {
        self.since.iter().all(|since| moment >= since.seconds(now))
    }
}

fn lines_of(tasks: &[Task]) -> Vec<usize> {
    tasks.iter().map(|task| task.line).collect()
}

impl Since {
    fn parse(value: &str) -> Option<Self> {
        if let Some(days) = value.strip_suffix('d') {
            return days.parse().ok().map(Self::DaysAgo);
        }
        match value {
            "today" => Some(Self::DaysAgo(0)),
            "yesterday" => Some(Self::DaysAgo(1)),
            date => day(date).map(Self::Date),
        }
    }

    fn seconds(self, now: i64) -> i64 {
        match self {
            Self::Date(seconds) => seconds,
            Self::DaysAgo(days) => (now.div_euclid(DAY) - i64::from(days)) * DAY,
        }
    }
}

/// How many bytes of a text its first word has: up to a blank, and with what stands in quotes at its start or behind its
/// first colon.
fn length_of_word(text: &str) -> usize {
    let plain = |text: &str| text.find(char::is_whitespace).unwrap_or(text.len());
    let value = text.get(..plain(text)).and_then(|word| word.find(":\"")).map_or(0, |colon| colon + 1);
    let quoted = text.get(value..).and_then(|rest| rest.strip_prefix('"')).and_then(|rest| rest.find('"'));
    // Up to the second quote, and what may stick to it.
    let start = quoted.map_or(0, |end| value + end + 2);
    start + text.get(start..).map_or(0, plain)
}

fn tag_as_compared(tag: &str) -> String {
    folded(tag.trim_start_matches('#').trim_end_matches('/'))
}

/// Whether a tag is the one that is wanted, or nested in it.
fn is_within(tag: &str, wanted: &str) -> bool {
    tag.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a path, or any name in it, begins with what is wanted; only the path, where that begins with `/`.
fn is_below(path: &str, wanted: &str) -> bool {
    match wanted.strip_prefix('/') {
        Some(wanted) => path.starts_with(wanted),
        None => {
            let starts = path.match_indices('/').map(|(at, _)| at + 1);
            [0].into_iter().chain(starts).any(|start| path.get(start..).is_some_and(|part| part.starts_with(wanted)))
        }
    }
}

/// The latest date in the name of a note's file and its front matter.
fn stated(path: &MemoryPath, note: &Note<'_>) -> Option<i64> {
    let values = DATES.iter().flat_map(|key| note.front_values(key));
    // Who reads the note sees the day as it is written.
    let days = values.flat_map(|value| [day_of_moment(&value), last_day(&value)]).flatten();
    days.chain(last_day(path.stem())).max()
}

/// The day in UTC of a text that is a date with a time and a zone as YAML has them, in seconds since 1970.
fn day_of_moment(text: &str) -> Option<i64> {
    let (date, time) = text.trim().split_at_checked(10)?;
    let is_apart = time.starts_with(['T', 't', ' ']) && day(date).is_some();
    let time: String = time.get(1..).filter(|_| is_apart)?.split_whitespace().collect();
    let moment = Timestamp::parse_end(&format!("{date}T{}", time.to_ascii_uppercase()), Timestamp::from_seconds(0));
    Some(moment.ok()?.micros().div_euclid(1_000_000 * DAY) * DAY)
}

/// The latest date such as `2026-11-01` in a text, in seconds since 1970.
fn last_day(text: &str) -> Option<i64> {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let starts = text.char_indices().map(|(at, _)| at);
    starts
        .filter(|at| at.checked_sub(1).is_none_or(|before| !is_digit(before)) && !is_digit(at + 10))
        .filter_map(|at| text.get(at..at + 10).and_then(day))
        .max()
}

/// A date such as `2026-11-01` and nothing else, in seconds since 1970.
fn day(text: &str) -> Option<i64> {
    let moment = (text.len() == 10).then(|| Timestamp::parse(text).ok())??;
    Some(moment.micros().div_euclid(1_000_000))
}

/// How the value of an operator is written; `None` for what is no operator.
fn known_values(name: &str) -> Option<&'static str> {
    match name.to_ascii_lowercase().as_str() {
        "tag" => Some("a tag, `tag:work`"),
        "path" => Some("a folder or the start of a name, `path:projects/`"),
        "is" => Some(IS),
        "since" => Some(SINCE),
        _ => None,
    }
}

fn unknown(word: &str, known: &str) -> Failure {
    let message = format!("`{}` cannot be searched for", shorten(word));
    Failure::new(Code::InvalidPattern, message).with_hint(format!("write {known}; in quotes it is text"))
}
