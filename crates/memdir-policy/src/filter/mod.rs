//! [`Filter`]: what a person wants kept out of, or alone kept in, what a model sees and says.
//!
//! Owns the reading of such a text, and what it means line by line. What it cannot read, and what it reads only in part, it
//! gives back for the prompt; then the model is asked to obey, as it is without this. Touches nothing but text. For one
//! filter the time is linear in the text that it is held against.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use regex::Regex;

use super::Verdict;
use super::detect;
use super::glob::Glob;
use super::rule::Rule;
use super::table::{Class, Row};
use memdir_core::path::MemoryPath;

mod line;
mod read;
mod topic;

use line::Lines;

/// How often a text is looked through again after lines were taken out, for what stood apart may stand together now.
const ROUNDS: usize = 4;

/// What is said of [`Matcher::Age`].
const AN_AGE: &str = "an age";

/// What a person wants left out (`fact:phone`, `#private`, `health/**`, `note:Tom`, `email`), or alone told (`only fact:age`):
/// what is enforced of their text, and what is not.
///
/// A fact and a note are left out wherever their names stand, a detector finds what it knows, and a plain English sentence
/// about such names (“do not reveal email addresses”, “only ages”) is turned into them: [`Filter::names`] says into which. A
/// part that is not understood, whatever language it is in, is [`Filter::rest`].
///
/// # Examples
///
/// ```
/// use memdir_core::path::MemoryPath;
/// use memdir_policy::Filter;
///
/// let filter = Filter::compile("phone, fact:shoe size, private/**. Be kind.");
/// let note = "# Ada\n- phone: +49 30 1234567\n- city: London\n- shoe_size: 38\n";
/// let redacted = filter.redact(&MemoryPath::parse("people/ada.md")?, note);
/// assert_eq!((redacted.text.as_str(), redacted.removed), ("# Ada\n- city: London\n", vec![2, 4]));
/// assert_eq!(filter.redact(&MemoryPath::parse("private/ada.md")?, note).text, "");
/// assert_eq!(filter.find("Call her:\n+49 30 1234567")[0].line, 2);
/// assert_eq!(filter.rest(), ["Be kind."]);
/// # Ok::<(), memdir_core::path::PathError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Filter {
    /// What is left out.
    not: Vec<Matcher>,
    /// What alone may stay, for each sentence that says so: a line has to be allowed by all.
    only: Vec<Vec<Matcher>>,
    /// The parts that were not understood.
    rest: Vec<String>,
}

/// One thing that a filter is about.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Matcher {
    /// Notes, by a glob: as a rule takes it, and as it was read.
    Path(String, Glob),
    /// A tag without `#`, and those below it.
    Tag(String),
    /// Facts of this name: lines that hold these words, in whatever shape.
    Fact(Vec<String>),
    /// A note by its name, and lines that hold it.
    Name(Vec<String>),
    /// What a detector, or a class of them, finds.
    Detector(&'static str),
    /// How old somebody is, which no detector looks for.
    Age,
}

/// A text without what a filter leaves out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Redacted {
    /// What is left: whole lines, as they were.
    pub text: String,
    /// The lines that were taken out, from 1.
    pub removed: Vec<usize>,
}

/// Something in a text that a filter leaves out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FilterHit {
    /// The line where it starts, from 1.
    pub line: usize,
    /// The line where all that goes with it ends, from 1.
    pub last: usize,
    /// What it is.
    pub what: String,
}

/// Lines of a text, from 0, that belong to a matcher.
struct Hit<'m> {
    lines: RangeInclusive<usize>,
    matcher: &'m Matcher,
}

impl Filter {
    /// Reads a filter. Any text is one: a part in which any word is not understood is [`Filter::rest`], and no more.
    #[must_use]
    pub fn compile(text: &str) -> Self {
        read::filter(text)
    }

    /// What can be said as rules: paths that are not to be touched, and what is not to be written.
    #[must_use]
    pub fn rules(&self) -> Vec<Rule> {
        let rule = |path, detector| Rule { action: None, path, client: None, detector, verdict: Verdict::Deny };
        let rules = self.not.iter().filter_map(|matcher| match matcher {
            Matcher::Path(glob, _) => Some(rule(Some(glob.clone()), None)),
            Matcher::Detector(name) => Some(rule(None, Some((*name).to_owned()))),
            Matcher::Tag(_) | Matcher::Fact(_) | Matcher::Name(_) | Matcher::Age => None,
        });
        rules.collect()
    }

    /// The parts that are not enforced, in the words of the person.
    #[must_use]
    pub fn rest(&self) -> &[String] {
        &self.rest
    }

    /// Whether anything of it is enforced.
    #[must_use]
    pub fn is_enforced(&self) -> bool {
        !(self.not.is_empty() && self.only.is_empty())
    }

    /// Whether all that it keeps back is found in any text, in whatever words: what detectors know.
    #[must_use]
    pub fn is_found_in_text(&self) -> bool {
        self.only.is_empty() && self.not.iter().all(|matcher| !matcher.found_by().is_empty())
    }

    /// Whether it takes a whole note to know what it keeps back: a place, a tag, or all but something. Of a text that stands alone
    /// nobody knows then whether it may be told.
    #[must_use]
    pub fn needs_note(&self) -> bool {
        !self.only.is_empty() || self.not.iter().any(|matcher| matches!(matcher, Matcher::Path(..) | Matcher::Tag(_)))
    }

    /// Whether the name of a note may be told whatever the note holds: not where only some things may be told, unless this is one
    /// of their places.
    #[must_use]
    pub fn allows_name(&self, path: &MemoryPath) -> bool {
        let lines = Lines::of("");
        self.only.iter().all(|only| only.iter().any(|matcher| matcher.takes_all(path, &lines)))
    }

    /// What is enforced, in the names that can be typed for it; each line of this text is a part.
    #[must_use]
    pub fn names(&self) -> String {
        let list = |matchers: &[Matcher]| matchers.iter().map(Matcher::name).collect::<Vec<_>>().join(", ");
        let only = self.only.iter().map(|only| format!("only {}", list(only)));
        let not = (!self.not.is_empty()).then(|| list(&self.not));
        not.into_iter().chain(only).collect::<Vec<_>>().join("\n")
    }

    /// Takes out of a note, or a part of it, the lines that a model is not to see.
    ///
    /// A fact goes with all that belongs to it: what is indented below, the lines below an empty value, the section of a
    /// heading, the table. Where only some facts may stay, a line that says anything else too goes, and so does what some
    /// detector finds beside them. What is left is as it was, byte for byte, and [`Filter::find`] finds nothing in it.
    #[must_use]
    pub fn redact(&self, path: &MemoryPath, text: &str) -> Redacted {
        let mut kept: Vec<(usize, &str)> =
            text.split_inclusive('\n').zip(1..).map(|(line, number)| (number, line)).collect();
        let count = kept.len();
        self.keep(path, text, &mut kept);
        let left: BTreeSet<usize> = kept.iter().map(|(number, _)| *number).collect();
        Redacted {
            text: kept.into_iter().map(|(_, line)| line).collect(),
            removed: (1..=count).filter(|number| !left.contains(number)).collect(),
        }
    }

    /// Finds what is to be left out in a text that comes from a model, in the order of its lines.
    ///
    /// A path that is left out is not found, for nothing in a text tells where it is from. Of what an “only” leaves out, only
    /// what some detector knows is: nothing found is no promise that nothing else was said.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<FilterHit> {
        let hits = hits(&self.not, text).into_iter().map(|hit| (hit.lines, hit.matcher.words()));
        let found = hits.chain(self.others(text).into_iter().map(|(lines, what)| (lines, what.to_owned())));
        let found = found.map(|(lines, what)| FilterHit { line: lines.start() + 1, last: lines.end() + 1, what });
        let mut found: Vec<FilterHit> = found.collect();
        found.sort_by(|one, other| (one.line, &one.what, one.last).cmp(&(other.line, &other.what, other.last)));
        found.dedup();
        found
    }

    /// What the detectors find in a text and no “only” allows: the lines, from 0, and what it is. An “only” that names facts of
    /// which no detector knows says nothing of what is in them, and one that names places nothing of what is in a text.
    fn others(&self, text: &str) -> Vec<(RangeInclusive<usize>, &'static str)> {
        let mut others = Vec::new();
        for only in &self.only {
            let found_by: Vec<Matcher> = only.iter().flat_map(Matcher::found_by).collect();
            if found_by.is_empty() {
                continue;
            }
            let wants = |row: &Row| {
                let is_allowed = |matcher: &Matcher| matches!(matcher, Matcher::Detector(name) if row.is_called(name));
                row.class != Class::ActiveContent && !found_by.iter().any(is_allowed)
            };
            others.extend(detect::places(text, wants).into_iter().map(|(row, lines)| (lines, row.words)));
            if !found_by.contains(&Matcher::Age) {
                others.extend(ages(text).into_iter().map(|lines| (lines, AN_AGE)));
            }
        }
        others
    }

    /// Keeps the lines that a model may see; none where after [`ROUNDS`] there are still some to take out.
    fn keep(&self, path: &MemoryPath, text: &str, kept: &mut Vec<(usize, &str)>) {
        let lines = Lines::of(text);
        let takes_all = |matchers: &[Matcher]| matchers.iter().any(|matcher| matcher.takes_all(path, &lines));
        if takes_all(&self.not) {
            kept.clear();
        }
        for only in self.only.iter().filter(|only| !takes_all(only)) {
            let allowed = allowed(only, text);
            kept.retain(|(number, _)| allowed.contains(&(number - 1)));
        }
        for _ in 0..ROUNDS {
            let text: String = kept.iter().map(|(_, line)| *line).collect();
            let mut hidden: BTreeSet<usize> = hits(&self.not, &text).into_iter().flat_map(|hit| hit.lines).collect();
            hidden.extend(self.others(&text).into_iter().flat_map(|(lines, _)| lines));
            if hidden.is_empty() {
                return;
            }
            let mut at = 0;
            kept.retain(|_| {
                at += 1;
                !hidden.contains(&(at - 1))
            });
        }
        kept.clear();
    }
}

/// The lines, from 0, that say what may be said and nothing else, as far as lines tell.
fn allowed<'m>(only: &'m [Matcher], text: &str) -> BTreeSet<usize> {
    let lines = Lines::of(text);
    let name = |matcher: &'m Matcher| if let Matcher::Fact(name) = matcher { Some(name.as_slice()) } else { None };
    let names: Vec<&[String]> = only.iter().filter_map(name).collect();
    let mut allowed: BTreeSet<usize> = lines.of_facts_alone(&names).into_iter().flatten().collect();
    let rest = only.iter().filter(|matcher| !matches!(matcher, Matcher::Fact(_)));
    for hit in hits(rest, text) {
        let is_place = hit.matcher.is_place();
        let is_alone = |at: usize| lines.is_of_one(at) || lines.is_about(at, &names);
        if is_place || hit.lines.clone().all(is_alone) {
            allowed.extend(hit.lines);
        }
    }
    allowed
}

/// All that the matchers are about in a text.
fn hits<'m>(matchers: impl IntoIterator<Item = &'m Matcher>, text: &str) -> Vec<Hit<'m>> {
    let lines = Lines::of(text);
    let mut hits = Vec::new();
    for matcher in matchers {
        let found = match matcher {
            Matcher::Path(..) => Vec::new(),
            Matcher::Tag(tag) => lines.tagged(tag),
            Matcher::Fact(name) | Matcher::Name(name) => lines.named(name),
            Matcher::Detector(name) => {
                let found = detect::places(text, |row| row.is_called(name));
                lines.with_blocks(found.into_iter().map(|(_, lines)| lines).collect())
            }
            Matcher::Age => ages(text),
        };
        hits.extend(found.into_iter().map(|lines| Hit { lines, matcher }));
    }
    hits
}

/// The lines that say how old somebody is, other than as a fact.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and the tests compile it")]
fn ages(text: &str) -> Vec<RangeInclusive<usize>> {
    const AGE: &str = r"(?i-u:\b(years?[ -]old|[0-9]{1,3} ?(y/?o|yrs?)\b|aged? (of |is )?[0-9]{1,3}\b|turn(s|ed|ing)? [0-9]{1,3}\b))|(?-u:\b)([A-Z][a-z]+|he|she|they|I) (is|am|are|was) [1-9][0-9]?( now| today)?([.,!]|$)";
    static COMPILED: LazyLock<Regex> = LazyLock::new(|| Regex::new(AGE).expect("the pattern of ages compiles"));
    let lines = text.split_inclusive('\n').enumerate();
    lines.filter(|(_, line)| COMPILED.is_match(line.trim_end())).map(|(at, _)| at..=at).collect()
}

impl Matcher {
    /// Whether all of a note belongs to it.
    fn takes_all(&self, path: &MemoryPath, lines: &Lines<'_>) -> bool {
        match self {
            Self::Path(_, glob) => glob.matches_any_form(path),
            Self::Tag(tag) => lines.is_tagged(tag),
            Self::Name(name) => lines.is_called(name),
            Self::Fact(_) | Self::Detector(_) | Self::Age => false,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Path(glob, _) => format!("`{glob}`"),
            Self::Tag(tag) => format!("the tag `#{tag}`"),
            Self::Fact(words) => format!("the fact `{}`", words.join(" ")),
            Self::Name(words) => format!("the name `{}`", words.join(" ")),
            Self::Detector(name) => detect::words(name).to_owned(),
            Self::Age => AN_AGE.to_owned(),
        }
    }

    /// Whether it is about notes, rather than about what stands in them.
    fn is_place(&self) -> bool {
        matches!(self, Self::Path(..) | Self::Tag(_) | Self::Name(_))
    }

    /// How it is typed.
    fn name(&self) -> String {
        match self {
            Self::Path(glob, _) if glob.contains(' ') => format!("`{glob}`"),
            Self::Path(glob, _) => glob.clone(),
            Self::Tag(tag) => format!("#{tag}"),
            Self::Fact(words) => format!("fact:{}", typed(words)),
            Self::Name(words) => format!("note:{}", typed(words)),
            Self::Detector(name) => (*name).to_owned(),
            Self::Age => "age".to_owned(),
        }
    }

    /// The detectors of it, of which a fact has those of its topic.
    fn found_by(&self) -> Vec<Self> {
        let mut found = match self {
            Self::Detector(_) | Self::Age => vec![self.clone()],
            Self::Fact(name) => topic::matchers(name).to_vec(),
            Self::Path(..) | Self::Tag(_) | Self::Name(_) => Vec::new(),
        };
        found.retain(|matcher| matches!(matcher, Self::Detector(_) | Self::Age));
        found
    }
}

/// A name as it is typed behind `fact:` or `note:`.
fn typed(words: &[String]) -> String {
    let name = words.join(" ");
    if read::needs_quotes(words) { format!("\"{name}\"") } else { name }
}

#[cfg(test)]
mod tests;
