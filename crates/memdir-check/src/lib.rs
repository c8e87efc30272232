//! What is wrong in a memory, and the actions that would mend it.
//!
//! Owns what a finding is and how sure it has to be. Looks at what was seen of each note and at where the links lead;
//! touches no file and changes nothing: a proposed action goes through `exec` like any other.

#![warn(clippy::wildcard_enum_match_arm)]

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use memdir_core::action::{Action, DeleteFile};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{LinkEntry, Links, Writing};
use memdir_note::{Excluded, FrontMatterError, Note, Targets};

mod contradiction;
mod edit;
mod fact;
mod link;
mod name;
mod near;
mod sheet;
mod subject;
mod tidy;
mod usage;
mod value;

pub use edit::{OtherLine, fact_on, with_value, without_fact};
pub use tidy::{TidyStep, mends, tidy};

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A link leads to no file, or to a heading or block that the note has not.
    BrokenLink,
    /// A wikilink by name to a note that nobody has written yet, which is no fault.
    Unwritten,
    /// A note that nothing links to, and that links to nothing.
    Orphan,
    /// A note with the same bytes as another one, or one that says nearly the same.
    Duplicate,
    /// One fact with two values.
    ConflictingFact,
    /// A note that is larger than a note may become.
    Oversized,
    /// A copy that a program made when two devices changed the same note.
    SyncConflict,
    /// A name that not every system can store.
    UnportableName,
    /// Something that would run or reach out once the note is opened in a viewer.
    ActiveContent,
    /// A note that cannot be read, or whose front matter cannot, so that nothing of it is known.
    Unreadable,
}

/// One thing that is wrong.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Finding {
    /// What kind of thing.
    pub kind: Kind,
    /// The file or folder it is about.
    pub path: MemoryPath,
    /// The line, from 1.
    pub line: Option<usize>,
    /// What else it is about: the link as written, the other note, the key of the fact.
    pub target: Option<String>,
    /// One lower-case sentence.
    pub message: String,
    /// What would mend it, where one action does.
    pub action: Option<Action>,
    /// The lines that contradict each other, that of the finding first; empty for every other kind.
    pub sides: Vec<Side>,
    /// Whether the lines may as well be a list of two, as far as the notes tell: it is a contradiction only if different
    /// changes wrote them. Such a finding has no action.
    #[serde(skip)]
    pub may_be_list: bool,
}

/// A line that contradicts another one.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Side {
    /// The note.
    pub path: MemoryPath,
    /// The line, from 1.
    pub line: usize,
    /// What it says, without the blanks around it; empty where the note cannot be read any more.
    pub text: String,
    /// Who wrote it last, as far as the history knows; `None` where nobody has looked.
    pub by: Option<Writing>,
}

/// What was found in a whole memory.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Checked {
    /// Sorted by path, line and kind.
    pub findings: Vec<Finding>,
    /// How many notes there are.
    pub notes: usize,
    /// How many links stand in them.
    pub links: usize,
}

/// What is kept of a note's text.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Look {
    /// The digest of its bytes; `None` where they could not be read.
    digest: Option<Digest>,
    size: u64,
    title: Option<String>,
    aliases: Vec<String>,
    active: Vec<Active>,
    facts: fact::Facts,
    sketch: Option<near::Sketch>,
    lines: Vec<u32>,
    unread: Option<Unread>,
}

/// What of a note could not be read.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
enum Unread {
    /// Nothing, for a reason that is a sentence.
    Note(String),
    /// Nothing but bytes.
    Text,
    /// The front matter.
    FrontMatter(FrontMatterError),
}

/// One kind of active content of a note.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Active {
    what: Cow<'static, str>,
    /// The first line that holds it.
    line: usize,
    places: usize,
}

/// A file, and what was seen of it where it is a note.
#[derive(Clone, Debug)]
pub struct File {
    /// Where it is.
    pub path: MemoryPath,
    /// Whether its name is a link to a file elsewhere in the memory.
    pub is_link: bool,
    /// What is kept of it; `None` for a file that is no note.
    pub look: Option<Look>,
}

/// A memory as it was seen.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// All files, sorted by path.
    pub files: &'a [File],
    /// All links.
    pub links: &'a Links,
    /// All files by their names.
    pub targets: &'a Targets,
    /// The largest note that may be written, in bytes.
    pub note_bytes: u64,
    /// What the person has set aside: nothing is said of what such notes say, only of what is dangerous about them.
    pub excluded: &'a Excluded,
    /// Folders that nobody lets us list.
    pub closed: &'a [MemoryPath],
    /// The values of `status` in the front matter by which a note says that it belongs to the past, in small letters.
    pub past_status: &'a [String],
}

impl Look {
    /// Takes what is needed from a note that is read; `active` is what a viewer would run or fetch.
    #[must_use]
    pub fn of(text: &str, note: &Note<'_>, active: Vec<(usize, &'static str)>) -> Self {
        Self {
            title: note.title(),
            aliases: note.aliases(),
            active: Active::grouped(active),
            facts: fact::Facts::of(text, note),
            sketch: near::Sketch::of(text, note),
            lines: near::lines(text, note),
            unread: note.front_error().cloned().map(Unread::FrontMatter),
            ..Self::of_bytes(text.as_bytes())
        }
    }

    /// The digest of the bytes of the note, where they could be read.
    #[must_use]
    pub fn digest(&self) -> Option<Digest> {
        self.digest
    }

    /// What is known of a note that could not be read; `why` is one lower-case sentence.
    #[must_use]
    pub fn of_unread(why: String) -> Self {
        Self { unread: Some(Unread::Note(why)), ..Self::default() }
    }

    /// What is known of a note that is too large to be read.
    #[must_use]
    pub fn of_size(size: u64) -> Self {
        Self { size, ..Self::default() }
    }

    /// Takes what is needed from a file that is called a note and is no text.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Self { digest: Some(Digest::of(bytes)), size, unread: Some(Unread::Text), ..Self::default() }
    }
}

impl Active {
    fn grouped(places: Vec<(usize, &'static str)>) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for (line, what) in places {
            match found.iter_mut().find(|active| active.what == what) {
                Some(active) => (active.line, active.places) = (active.line.min(line), active.places + 1),
                None => found.push(Self { what: Cow::Borrowed(what), line, places: 1 }),
            }
        }
        found
    }

    fn finding(&self, path: &MemoryPath) -> Finding {
        let Self { what, line, places } = self;
        let count = if *places == 1 { String::new() } else { format!(", the first of {places} places") };
        Finding {
            line: Some(*line),
            message: format!("line {line} holds {what}{count}, which a viewer may run or fetch"),
            ..finding(Kind::ActiveContent, path)
        }
    }
}

impl Unread {
    fn finding(&self, path: &MemoryPath) -> Finding {
        let (line, message) = match self {
            Self::Note(why) => (None, why.clone()),
            Self::Text => (None, format!("`{path}` is not UTF-8 text, so nothing in it is read")),
            Self::FrontMatter(error) => (Some(error.line), front_matter(error)),
        };
        Finding { line, message, ..finding(Kind::Unreadable, path) }
    }
}

/// What to say of a front matter that the parser of YAML cannot read, as one lower-case sentence.
#[must_use]
pub fn front_matter(error: &FrontMatterError) -> String {
    let FrontMatterError { line, message } = error;
    format!("none of the front matter is read, because of line {line}: {message}")
}

/// Says all that is wrong. `read` is asked for the text of notes with broken links and of what those lead to, and of notes
/// that may be nearly the same, one after the other, so that no texts have to be kept.
#[must_use]
pub fn check(seen: &Seen<'_>, read: &mut dyn FnMut(&MemoryPath) -> Option<String>) -> Checked {
    let notes: Vec<(&MemoryPath, &File, &Look)> =
        seen.files.iter().filter_map(|file| Some((&file.path, file, file.look.as_ref()?))).collect();
    let mut findings = Vec::new();
    for (path, _, look) in &notes {
        findings.extend(look.active.iter().map(|active| active.finding(path)));
        if look.size > seen.note_bytes {
            let message = format!("the note has {} bytes, more than {}; split it", look.size, seen.note_bytes);
            findings.push(Finding { message, ..finding(Kind::Oversized, path) });
        }
    }
    // A name that leads elsewhere is no note of its own.
    let own = || notes.iter().filter(|(path, file, _)| !file.is_link && !seen.excluded.holds(path));
    let own = || own().map(|(path, _, look)| (*path, *look));
    // What Obsidian leaves out may have a front matter of its own kind.
    let read_all = notes.iter().filter(|(path, file, look)| {
        !file.is_link && (!seen.excluded.holds(path) || !matches!(look.unread, Some(Unread::FrontMatter(_))))
    });
    findings.extend(read_all.filter_map(|(path, _, look)| Some(look.unread.as_ref()?.finding(path))));
    let closed = |folder: &MemoryPath| {
        let message = format!("no permission to list folder `{folder}`, so nothing in it is read");
        Finding { message, ..finding(Kind::Unreadable, folder) }
    };
    findings.extend(seen.closed.iter().map(closed));
    findings.extend(contradiction::conflicts(own(), seen.past_status, read));
    findings.extend(duplicates(own(), seen.links));
    findings.extend(near::near(own(), read));
    findings.extend(orphans(own().map(|(path, _)| path), seen.links));
    findings.extend(name::sync_conflicts(seen.files));
    findings.extend(name::unportable(seen.files));
    findings.extend(link::broken(seen, read));
    findings.sort_by(|one, other| {
        let key = |finding: &Finding| (finding.line, finding.kind);
        one.path.cmp(&other.path).then(key(one).cmp(&key(other))).then(one.target.cmp(&other.target))
    });
    Checked { findings, notes: notes.len(), links: seen.links.links.len() }
}

/// The contradictions alone of what [`check`] finds.
#[must_use]
pub fn check_facts(seen: &Seen<'_>, read: &mut dyn FnMut(&MemoryPath) -> Option<String>) -> Checked {
    let own = seen.files.iter().filter(|file| !file.is_link && !seen.excluded.holds(&file.path));
    let looks = own.filter_map(|file| Some((&file.path, file.look.as_ref()?)));
    let findings = contradiction::conflicts(looks, seen.past_status, read);
    Checked { findings, ..Checked::default() }
}

/// The facts of these notes that contradict each other, as [`check`] finds them; what the notes say is all that is learnt
/// from. `read` is asked for the text of those that do; `past_status` is that of [`Seen`].
///
/// Linear in the number of facts.
#[must_use]
pub fn contradictions<'a>(
    notes: impl Iterator<Item = (&'a MemoryPath, &'a Look)>,
    past_status: &[String],
    read: &mut dyn FnMut(&MemoryPath) -> Option<String>,
) -> Vec<Finding> {
    contradiction::conflicts(notes, past_status, read)
}

/// A finding of which nothing is said yet.
fn finding(kind: Kind, path: &MemoryPath) -> Finding {
    Finding {
        kind,
        path: path.clone(),
        line: None,
        target: None,
        message: String::new(),
        action: None,
        sides: Vec::new(),
        may_be_list: false,
    }
}

/// Notes with the same bytes. The one with the shortest path stays; another one may go only when nothing links to it.
fn duplicates<'a>(notes: impl Iterator<Item = (&'a MemoryPath, &'a Look)>, links: &Links) -> Vec<Finding> {
    let mut same: HashMap<Digest, Vec<&MemoryPath>> = HashMap::new();
    for (path, look) in notes.filter(|(_, look)| look.size > 0) {
        if let Some(digest) = look.digest {
            same.entry(digest).or_default().push(path);
        }
    }
    let mut found = Vec::new();
    for mut paths in same.into_values().filter(|paths| paths.len() > 1) {
        paths.sort_by_key(|path| (path.utf16_length(), *path));
        let Some((kept, others)) = paths.split_first() else { continue };
        for path in others {
            let is_free = links.backlinks.get(*path).is_none_or(Vec::is_empty) && leads_alike(links, path, kept);
            found.push(Finding {
                target: Some(kept.to_string()),
                message: format!("`{path}` says the same as `{kept}`, byte for byte"),
                action: is_free.then(|| Action::DeleteFile(DeleteFile { path: (*path).clone() })),
                ..finding(Kind::Duplicate, path)
            });
        }
    }
    found
}

/// Whether each link of a note leads where the same link of another note leads: those of Markdown are read from the folder of their note.
fn leads_alike(links: &Links, one: &MemoryPath, other: &MemoryPath) -> bool {
    let of = |path: &MemoryPath| {
        let start = links.links.partition_point(|link| link.source < *path);
        let own = links.links.iter().skip(start).take_while(|link| link.source == *path);
        // Where one leads of which that is not known depends on its folder.
        let folder = |link: &LinkEntry| if link.resolved.is_none() { path.parent() } else { None };
        own.map(|link| (&link.target, &link.subpath, &link.resolved, folder(link))).collect::<HashSet<_>>()
    };
    of(one).is_subset(&of(other))
}

/// Notes that no link leads to or from. What is found in another way is none: where a reader starts, a day by its date,
/// an entry of `memory` by its key.
fn orphans<'a>(notes: impl Iterator<Item = &'a MemoryPath>, links: &Links) -> Vec<Finding> {
    let leads_out = links.links.iter().filter(|link| link.resolved.as_ref() != Some(&link.source));
    let linking: HashSet<&MemoryPath> = leads_out.map(|link| &link.source).collect();
    let is_alone = |path: &&MemoryPath| {
        !linking.contains(path) && links.backlinks.get(*path).is_none_or(Vec::is_empty) && !name::is_found(path)
    };
    notes
        .filter(is_alone)
        .map(|path| Finding {
            message: format!("no link leads to `{path}`, and none from it"),
            ..finding(Kind::Orphan, path)
        })
        .collect()
}

/// How many findings there are of each kind.
#[must_use]
pub fn counts(findings: &[Finding]) -> BTreeMap<Kind, usize> {
    let mut counts = BTreeMap::new();
    findings.iter().for_each(|finding| *counts.entry(finding.kind).or_default() += 1);
    counts
}

/// The findings in the order in which a person should look at them: first what makes the memory say something wrong or
/// lead nowhere, last what may well be meant so. Kinds that weigh the same take turns, so that none hides another.
#[must_use]
pub fn worst(findings: &[Finding]) -> Vec<&Finding> {
    let mut turns: BTreeMap<(u8, Kind), usize> = BTreeMap::new();
    let mut sorted: Vec<_> = findings
        .iter()
        .map(|finding| {
            let weight = finding.weight();
            let turn = turns.entry((weight, finding.kind)).or_default();
            *turn += 1;
            ((weight, *turn, finding.kind), finding)
        })
        .collect();
    sorted.sort_by_key(|(order, _)| *order);
    sorted.into_iter().map(|(_, finding)| finding).collect()
}

impl Finding {
    /// How soon a person should look at it; less is sooner.
    fn weight(&self) -> u8 {
        match self.kind {
            Kind::BrokenLink | Kind::ConflictingFact | Kind::SyncConflict | Kind::Unreadable => 0,
            Kind::Duplicate | Kind::Oversized | Kind::UnportableName | Kind::ActiveContent => 1,
            Kind::Unwritten if self.action.is_some() => 1,
            Kind::Orphan => 2,
            Kind::Unwritten => 3,
        }
    }
}

#[cfg(test)]
mod tests;
