//! `remember`: a fact or a line in the note where it belongs.
//!
//! Owns which note that is, also where it has to be made, and what is told of it. How a fact is written is for
//! [`memdir_note::fact`].

use std::collections::{BTreeMap, BTreeSet};

use crate::names::{NoteNames, named_first, the_only};
use crate::tree::{Effort, Tree};
use crate::{Answer, Planner, section, words, write};
use memdir_core::action::{Call, Remember};
use memdir_core::catalog::{invalid_path, shorten};
use memdir_core::path::{MemoryPath, PERSON, PERSON_NOTE};
use memdir_core::report::{Code, Failure, Kind, Remembered, RememberedChange, SimilarLine, Value};
use memdir_note::stem::Stem;
use memdir_note::words::{self as note_words, called};
use memdir_note::{Heading, Link, Note, Syntax, Target, fact, folded, link, name};
use memdir_rank::Question;

/// The folder of a new note where the memory does not show another one.
pub(crate) const FOLDER: &str = "entities";
/// The title of the note about the person where it has to be made.
const PERSON_TITLE: &str = "Me";
/// The longest name that is looked for in a text, in words, and how many runs of words an index is asked for.
const NAME_WORDS: usize = 8;
const MOST_RUNS: usize = 4_000;
/// Of the notes that hold the words of a key, so many are looked into for the fact.
const MOST_CARDS: usize = 100;
/// How many similar lines are told of.
const MOST_SIMILAR: usize = 3;

/// What is to be remembered.
enum Thing<'a> {
    Fact { key: &'a str, value: &'a str },
    Line(String),
}

/// Where it goes.
pub(super) struct Place {
    path: MemoryPath,
    /// The title that the note gets, where it has to be made.
    title: Option<String>,
}

impl Place {
    pub(super) fn path(self) -> MemoryPath {
        self.path
    }
}

impl<'a> Thing<'a> {
    /// Reads what a call wants; one of the two forms has to be whole.
    fn of(call: &Call, asked: &'a Remember) -> Result<Self, Failure> {
        let invalid = |message: &str, hint: &str| Err(words::invalid(call.index, "remember", message).with_hint(hint));
        let given = |text: &'a Option<String>| text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        match (given(&asked.key), given(&asked.value), given(&asked.text)) {
            (Some(key), Some(value), None) if [key, value].iter().all(|text| !text.contains(['\n', '\r'])) => {
                Ok(Self::Fact { key, value })
            }
            (Some(_), Some(_), None) => invalid("a fact is one line", "send a longer text as `text`"),
            (None, None, Some(text)) => Ok(Self::Line(as_item(text))),
            (Some(_), None, None) => invalid("missing `value`", "send what the fact says as `value`, on one line"),
            (None, Some(_), None) => invalid("missing `key`", "send what the fact is called as `key`, such as `city`"),
            (None, None, None) => invalid(
                "there is nothing to remember",
                "send `key` and `value`, such as `city` and `Porto`, or a sentence as `text`",
            ),
            (_, _, Some(_)) => invalid(
                "`text` stands beside `key` or `value`",
                "send either `key` and `value`, or `text`; one call remembers one thing",
            ),
        }
    }
}

impl<T: Tree> Planner<'_, T> {
    pub(super) fn remember(&mut self, call: &Call, asked: &Remember) -> Result<Answer, Failure> {
        let thing = Thing::of(call, asked)?;
        let Place { path, title } = self.place_to_remember(call, asked)?;
        let (text, after) = match &title {
            Some(title) => {
                let head = format!("# {title}\n\n");
                let after = with_thing(call, &path, &head, &thing)?;
                let place = self.resolve(&path)?;
                self.make_file(&path, place, &after)?;
                (head, after)
            }
            None => {
                let (place, now, text) = self.text_to_edit(&path)?;
                let after = with_thing(call, &path, &text, &thing)?;
                if after != text {
                    self.replace(call, &path, place, now, after.clone())?;
                }
                (text, after)
            }
        };
        let mut told = told(&text, &after, &thing);
        if told.change == RememberedChange::Added {
            let key = match &thing {
                Thing::Fact { key, .. } => Some((*key).to_owned()),
                Thing::Line(line) => Note::parse(line).facts().into_iter().next().map(|fact| fact.key),
            };
            told.similar = key.map(|key| similar(&after, &key, told.line)).unwrap_or_default();
        }
        if title.is_some() {
            told.change = RememberedChange::Created;
        }
        Ok(Answer { path: Some(path), ..Value::Remembered(told).into() })
    }

    /// The note in which something is remembered, and how it is called where it has to be made.
    pub(super) fn place_to_remember(&mut self, call: &Call, asked: &Remember) -> Result<Place, Failure> {
        let named = asked.note.as_deref().map(str::trim).filter(|note| !note.is_empty());
        let found = match (named, &asked.text) {
            (Some(note), _) => self.note_called(call, note)?,
            (None, Some(text)) => self.note_in(call, text)?,
            (None, None) => None,
        };
        match (found, named) {
            (Some(path), _) => Ok(Place { path, title: None }),
            (None, Some(note)) if called(note) != PERSON => self.new_place(call, note, asked.key.as_deref()),
            (None, _) => {
                let path = MemoryPath::parse(PERSON_NOTE).map_err(|error| invalid_path(PERSON_NOTE, error))?;
                let is_there = self.is_file(&path);
                Ok(Place { path, title: (!is_there).then(|| PERSON_TITLE.to_owned()) })
            }
        }
    }

    fn is_file(&self, path: &MemoryPath) -> bool {
        let stat = self.resolve(path).ok().and_then(|place| self.overlay.stat(&place).ok().flatten());
        stat.is_some_and(|stat| stat.kind == Kind::File)
    }

    /// The note that is named by a path, a file name, a title, an alias, or a link to it. Case and what parts the words do not count; an accent
    /// or a sign does, since what is remembered may take the place of something.
    fn note_called(&mut self, call: &Call, said: &str) -> Result<Option<MemoryPath>, Failure> {
        let found = self.note_of_name(call, said, name_in(said))?;
        let is_bare = found.is_none() && !said.starts_with(['[', '!', '#']);
        let Some((note, heading)) = said.split_once('#').filter(|_| is_bare) else { return Ok(found) };
        // `Ada#Work` may lead to a heading, but `C#` and `Issue #42` are names.
        let Some(path) = self.note_of_name(call, said, note.to_owned())? else { return Ok(None) };
        let text = self.text_of(&path).unwrap_or_default();
        let has_heading = Note::parse(&text).headings().iter().any(|one| called(&one.shown()) == called(heading));
        Ok(Some(path).filter(|_| has_heading || note.ends_with(".md")))
    }

    fn note_of_name(&mut self, call: &Call, said: &str, name: String) -> Result<Option<MemoryPath>, Failure> {
        let paths = [name.clone(), format!("{name}.md")].map(|path| MemoryPath::parse(&path));
        let [whole, _] = &paths;
        whole.as_ref().map_err(|error| invalid_path(said, *error))?;
        if let Some(path) = paths.into_iter().flatten().find(|path| path.is_note() && self.is_file(path)) {
            return Ok(Some(path));
        }
        let may_show = self.manner.may_show;
        let found: Vec<MemoryPath> = if is_path(&name) {
            match self.targets()?.resolve(&name, Syntax::Wiki, None) {
                Target::File(path) => vec![path.clone()],
                Target::Several(paths) => paths.into_iter().cloned().collect(),
                Target::Nothing => Vec::new(),
            }
        } else {
            self.all_called(call, &name)?
        };
        let may_be = |path: &MemoryPath| path.is_note() && may_show(call, path);
        let found: Vec<_> = found.into_iter().filter(may_be).collect();
        let mut exact: Vec<_> = found.iter().filter(|path| is_path(&name) || self.is_spelled(path, &name)).collect();
        let labelled = if found.is_empty() { self.labelled(call, &name)? } else { Vec::new() };
        exact.extend(labelled.iter().filter(|path| may_be(path)));
        match found.first() {
            Some(like) if exact.is_empty() => {
                let message = format!("no note is called `{}`; `{like}` has a similar name", shorten(said));
                let hint = format!("give its path, `{like}`, if it is meant; else the path of a new note");
                Err(Failure::new(Code::AmbiguousLink, message).with_hint(hint))
            }
            _ => the_only(&format!("`{}`", shorten(said)), exact.into_iter()),
        }
    }

    /// Whether a note is called so, with the same accents and signs.
    fn is_spelled(&self, path: &MemoryPath, name: &str) -> bool {
        let wanted = spelled(name);
        let text = self.text_of(path).unwrap_or_default();
        let is_it = |one: &str| spelled(one) == wanted;
        NoteNames::of(path, &text).names.iter().any(|one| is_it(one)) || is_it(path.stem())
    }

    /// The notes to which the note about the person links by this label, as in `[[people/colin|Mr Thripp]]`.
    fn labelled(&mut self, call: &Call, name: &str) -> Result<Vec<MemoryPath>, Failure> {
        let wanted = spelled(name);
        let mut linked =
            self.linked_by_person(call, |link| link.text.as_ref().is_some_and(|label| spelled(label) == wanted))?;
        linked.sort_unstable();
        linked.dedup();
        Ok(linked)
    }

    /// Where those links of the note about the person lead that are wanted, in their order; none where it is not shown.
    fn linked_by_person(&mut self, call: &Call, is_wanted: impl Fn(&Link) -> bool) -> Result<Vec<MemoryPath>, Failure> {
        let may_show = self.manner.may_show;
        let person = MemoryPath::parse(PERSON_NOTE).ok().filter(|person| may_show(call, person));
        let Some(person) = person else { return Ok(Vec::new()) };
        let Ok((_, _, text)) = self.read_text(&person) else { return Ok(Vec::new()) };
        let links = Note::parse(&text).links().into_iter().filter(is_wanted);
        let targets = self.targets()?;
        Ok(links.filter_map(|link| targets.best(&link.path, link.syntax, Some(&person)).cloned()).collect())
    }

    /// The note that a text is about: the one to which its first link leads, else the one whose title or alias comes first in
    /// it; one of two letters only where the note about the person links to its note. `None` where it names none.
    fn note_in(&mut self, call: &Call, text: &str) -> Result<Option<MemoryPath>, Failure> {
        if let Some(link) = Note::parse(text).links().into_iter().find(|link| !link.path.is_empty())
            && let Some(path) = self.note_called(call, &link.path)?
        {
            return Ok(Some(path));
        }
        let notes = match self.indexed_names(call, text)? {
            Some(notes) => notes,
            None => {
                let names = |path: &MemoryPath, bytes: &[u8]| {
                    std::str::from_utf8(bytes).ok().map(|text| NoteNames::of(path, text))
                };
                let files = self.scan_notes(|path, bytes| bytes.ok().and_then(|bytes| names(path, bytes)))?;
                files.into_iter().filter(|file| !file.is_link).filter_map(|file| file.seen.flatten()).collect()
            }
        };
        let may_show = self.manner.may_show;
        let notes: Vec<_> = notes.into_iter().filter(|note| may_show(call, &note.path)).collect();
        let is_short = notes.iter().any(NoteNames::has_short);
        let known = if is_short { self.linked_by_person(call, |_| true)? } else { Vec::new() };
        named_first(text, notes, &known)
    }

    /// The notes of which an index says that a run of words of the text is a name; `None` where none can be asked.
    fn indexed_names(&self, call: &Call, text: &str) -> Result<Option<Vec<NoteNames>>, Failure> {
        let mut places = Vec::new();
        note_words::each(text, &mut |_, place| places.push(place));
        let runs = places.iter().enumerate().flat_map(|(at, first)| {
            let ends = places.iter().skip(at).take(NAME_WORDS).map(|last| last.end);
            ends.filter_map(|end| text.get(first.start..end)).map(called)
        });
        let mut runs: Vec<String> = runs.take(MOST_RUNS + 1).collect();
        runs.sort_unstable();
        runs.dedup();
        if runs.len() > MOST_RUNS {
            return Ok(None);
        }
        let mut notes = Vec::new();
        let is_answered = self.consult(call, Effort::Refresh, &mut |source| {
            // It may be asked once more, where the index was brought up to date meanwhile.
            notes.clear();
            let mut numbers = Vec::new();
            for run in &runs {
                numbers.extend(source.called(run, usize::MAX)?);
            }
            numbers.sort_unstable();
            numbers.dedup();
            for number in numbers {
                let card = source.card(number)?;
                notes.extend(card.map(|(path, card)| NoteNames::new(path, card.title, card.aliases)));
            }
            Ok(())
        })?;
        Ok(is_answered.then_some(notes))
    }

    /// Where the note is made that `said` names.
    fn new_place(&mut self, call: &Call, said: &str, key: Option<&str>) -> Result<Place, Failure> {
        let name = name_in(said);
        if called(&name).is_empty() {
            let failure = words::invalid(call.index, "remember", "the name of `note` has no letters");
            return Err(failure.with_hint("send a name of letters or digits, or a path"));
        }
        let parse = |path: &str| MemoryPath::parse(path).map_err(|error| invalid_path(said, error));
        if is_path(&name) {
            let path = parse(&name)?;
            let path = if path.is_note() { path } else { parse(&format!("{path}.md"))? };
            return Ok(Place { title: Some(title_of(path.stem())), path });
        }
        let folder = match self.folder_of_kind(call, key)? {
            Some(folder) => folder,
            None => Some(parse(FOLDER)?),
        };
        let file = match self.separator(folder.as_ref()) {
            ' ' => name::mended(&name),
            separator => file_name(&name, separator),
        };
        let path = MemoryPath::in_folder(folder.as_ref(), &format!("{file}.md"));
        Ok(Place { path: path.map_err(|error| invalid_path(said, error))?, title: Some(name) })
    }

    /// The folder in which the memory keeps such notes: most of those that state a fact of this key, else most of those to
    /// which the note about the person links. `None` where no folder has most; `Some(None)` is the root.
    fn folder_of_kind(&mut self, call: &Call, key: Option<&str>) -> Result<Option<Option<MemoryPath>>, Failure> {
        let may_show = self.manner.may_show;
        let stating = key.map(|key| self.notes_stating(call, key)).transpose()?.unwrap_or_default();
        let of_kind = |paths: Vec<MemoryPath>| {
            let mut folders = BTreeMap::<Option<MemoryPath>, usize>::new();
            for path in paths.iter().filter(|path| path.as_str() != PERSON_NOTE && may_show(call, path)) {
                *folders.entry(path.parent()).or_default() += 1;
            }
            let most = folders.values().max().copied();
            let mut most = folders.into_iter().filter(|(_, count)| Some(*count) == most);
            most.next().filter(|_| most.next().is_none()).map(|(folder, _)| folder)
        };
        if let Some(folder) = of_kind(stating) {
            return Ok(Some(folder));
        }
        let linked = self.linked_by_person(call, |_| true)?;
        Ok(of_kind(linked.into_iter().filter(MemoryPath::is_note).collect()))
    }

    /// The notes that state a fact of this key; of many, some.
    fn notes_stating(&self, call: &Call, key: &str) -> Result<Vec<MemoryPath>, Failure> {
        let wanted = fact::key(key);
        let mut found = Vec::new();
        let question = Question::of(key);
        let is_answered = self.consult(call, Effort::Refresh, &mut |source| {
            found.clear();
            let word = question.as_ref().and_then(|question| question.words().first());
            let mut holding = word.map(|word| source.matching(word.stems())).transpose()?.unwrap_or_default();
            holding.sort_by(|(one, weight), (other, other_weight)| other_weight.cmp(weight).then(one.cmp(other)));
            for (number, _) in holding.into_iter().take(MOST_CARDS) {
                let card = source.card(number)?;
                let stating = card.filter(|(_, card)| card.facts.iter().any(|one| fact::key(&one.key) == wanted));
                found.extend(stating.map(|(path, _)| path));
            }
            Ok(())
        })?;
        if is_answered {
            return Ok(found);
        }
        let states = |text: &str| Note::parse(text).facts().iter().any(|one| fact::key(&one.key) == wanted);
        let files =
            self.scan_notes(|_, bytes| bytes.is_ok_and(|bytes| std::str::from_utf8(bytes).is_ok_and(states)))?;
        let stating = files.into_iter().filter(|file| !file.is_link && file.seen == Some(true));
        Ok(stating.map(|file| file.path).collect())
    }

    /// What parts the words of most names in a folder.
    fn separator(&self, folder: Option<&MemoryPath>) -> char {
        let Ok(listing) = self.overlay.list(folder) else { return '_' };
        let count = |sign: &char| listing.entries.iter().filter(|entry| entry.name.contains(*sign)).count();
        // Of what is as frequent, the last one counts.
        [' ', '-', '_'].into_iter().max_by_key(count).unwrap_or('_')
    }
}

/// The name that is said: the target of a link, or as it stands with the `#` of `C#` and of `c#.md`.
fn name_in(said: &str) -> String {
    let said = said.trim();
    if said.starts_with(['[', '!']) { link::parse(said).path } else { said.to_owned() }
}

/// A name but for its case and what may part its words.
fn spelled(name: &str) -> String {
    let parts = [' ', '\u{a0}', '_', '-', '.', ',', '\'', '\u{2019}'];
    folded(name).replace(parts, "")
}

/// Whether a name is a path, and no title.
fn is_path(name: &str) -> bool {
    name.contains('/') || name.ends_with(".md")
}

/// A title as the name of a file, in small letters.
fn file_name(title: &str, separator: char) -> String {
    let words = title.to_lowercase();
    let words = words.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    name::mended(&words.collect::<Vec<_>>().join(separator.encode_utf8(&mut [0; 4])))
}

/// The name of a file as a title: `otto_maes` as `Otto Maes`. One that has capitals, or begins with a digit as a date does, is
/// as it is.
#[must_use]
pub fn title_of(stem: &str) -> String {
    if stem.starts_with(|first: char| first.is_ascii_digit()) || stem.chars().any(char::is_uppercase) {
        return stem.to_owned();
    }
    let capital = |word: &str| {
        let mut rest = word.chars();
        let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
        first + rest.as_str()
    };
    stem.split(['_', '-', ' ']).filter(|word| !word.is_empty()).map(capital).collect::<Vec<_>>().join(" ")
}

/// A text as one line: an item of a list, unless it is written as something else.
fn as_item(text: &str) -> String {
    let line = text.split(['\r', '\n']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    // What follows the signs of a heading tells it from a tag.
    let bare = line.trim_start_matches('#');
    let is_heading = (1..=6).contains(&(line.len() - bare.len())) && (bare.is_empty() || bare.starts_with(' '));
    let is_marked = ["- ", "* ", "+ ", ">", "|"].iter().any(|mark| line.starts_with(mark));
    if is_heading || is_marked || line.is_empty() { line } else { format!("- {line}") }
}

/// As `as_item`, at the end of a note: below an item that has a number, a number is a mark too, and no day or year.
#[must_use]
pub fn as_item_below(note: &str, text: &str) -> String {
    let item = as_item(text);
    let is_indented = |line: &&str| line.starts_with([' ', '\t']);
    let last = note.lines().rev().find(|line| !line.trim().is_empty() && !is_indented(line));
    let number = last.and_then(number_mark);
    match item.strip_prefix("- ") {
        Some(bare) if number.is_some() && number_mark(bare) == number && !text.trim_start().starts_with("- ") => {
            bare.to_owned()
        }
        _ => item,
    }
}

/// The sign behind the number that a line begins with as an item of a numbered list.
fn number_mark(line: &str) -> Option<char> {
    let rest = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let sign = rest.chars().next().filter(|sign| matches!(sign, '.' | ')') && rest.len() < line.len())?;
    rest.get(1..)?.starts_with([' ', '\t']).then_some(sign)
}

/// What a line says without the mark of its item.
fn said(line: &str) -> &str {
    let line = line.trim();
    ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim()
}

/// The note with what is to be remembered; as it is where it says so already.
fn with_thing(call: &Call, path: &MemoryPath, text: &str, thing: &Thing<'_>) -> Result<String, Failure> {
    let note = Note::parse(text);
    match thing {
        Thing::Fact { key, value } => match note.set_fact(key, value) {
            Ok(edit) => Ok(edit.apply(text)),
            Err(unset) => Err(section::not_set(call, path, key, unset)),
        },
        Thing::Line(line) if text.lines().any(|other| said(other) == said(line)) => Ok(text.to_owned()),
        Thing::Line(line) => {
            let place = end_of_first_list(&note).filter(|_| line.starts_with("- ")).unwrap_or(usize::MAX);
            write::added(path, text, place, line)
        }
    }
}

/// The last line, from 1, of the list in which the facts below the title stand; `None` where no fact stands there.
fn end_of_first_list(note: &Note<'_>) -> Option<usize> {
    let text = note.text();
    let lines: Vec<&str> = text.lines().collect();
    let starts = |heading: &Heading| text.get(..heading.span.start).map_or(0, |before| before.lines().count() + 1);
    let end = note.headings().get(1).map_or(usize::MAX, starts);
    // An item of front matter is none of the text.
    let begin = text.get(..note.body()).map_or(0, |front| front.lines().count());
    let is_item = |line: &usize| lines.get(line - 1).is_some_and(|line| line.starts_with("- "));
    let facts = note.facts().into_iter().map(|fact| fact.line).filter(|line| (begin + 1..end).contains(line));
    let last = facts.filter(is_item).max()?;
    let last = (last..).take_while(is_item).last()?;
    // What is indented below belongs to the last item.
    let is_alone = lines.get(last).is_none_or(|next| !next.starts_with([' ', '\t']));
    is_alone.then_some(last)
}

/// What was done to a note, by its lines before and after.
fn told(before: &str, after: &str, thing: &Thing<'_>) -> Remembered {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let most = old.len().min(new.len()) - start;
    let same_end = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(one, other)| one == other).count();
    let between = |lines: &[&str]| {
        let lines = lines.get(start..lines.len() - same_end).unwrap_or_default();
        let blank = lines.iter().take_while(|line| line.trim().is_empty()).count();
        (blank, lines.join("\n").trim_matches(['\n', '\r']).to_owned())
    };
    let ((_, replaced), (blank, text)) = (between(&old), between(&new));
    if text.is_empty() {
        let (line, text) = standing(after, thing);
        return Remembered { change: RememberedChange::None, line, text, replaced: None, similar: Vec::new() };
    }
    let replaced = Some(replaced).filter(|replaced| !replaced.trim().is_empty());
    let change = if replaced.is_some() { RememberedChange::Replaced } else { RememberedChange::Added };
    Remembered { change, line: start + blank + 1, text, replaced, similar: Vec::new() }
}

/// The lines of a note, but for one, that have every word of a key in some form.
fn similar(text: &str, key: &str, added: usize) -> Vec<SimilarLine> {
    let mut wanted: Vec<Vec<Stem>> = Vec::new();
    note_words::each(key, &mut |word, _| wanted.push(Stem::forms(word)));
    let has_all = |line: &str| {
        let mut stems = BTreeSet::new();
        note_words::each(line, &mut |word, _| stems.extend(Stem::forms(word)));
        !wanted.is_empty() && wanted.iter().all(|forms| forms.iter().any(|form| stems.contains(form)))
    };
    let lines = (1..).zip(text.lines()).filter(|(number, line)| *number != added && has_all(line));
    let lines = lines.map(|(line, text)| SimilarLine { line, text: shorten(text) });
    lines.take(MOST_SIMILAR).collect()
}

/// The line of a note that says already what is to be remembered.
fn standing(text: &str, thing: &Thing<'_>) -> (usize, String) {
    let line = match thing {
        Thing::Fact { key, .. } => {
            let wanted = fact::key(key);
            Note::parse(text).facts().into_iter().find(|one| fact::key(&one.key) == wanted).map(|one| one.line)
        }
        Thing::Line(line) => text.lines().position(|other| said(other) == said(line)).map(|at| at + 1),
    };
    let line = line.unwrap_or(1);
    (line, text.lines().nth(line - 1).unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::as_item_below;

    #[test]
    fn a_number_is_a_mark_below_a_number() {
        for (note, text, line) in [
            ("1. a\n2. b\n", "3. c", "3. c"),
            ("1) a\n   more\n\n", " 2) c ", "2) c"),
            ("1. a\n", "2) c", "- 2) c"),
            ("1. a\n", "- 2. c", "- 2. c"),
            ("1. a\n", "3.5 c", "- 3.5 c"),
            ("- a\n", "3. Mai: c", "- 3. Mai: c"),
            ("", "1. a", "- 1. a"),
        ] {
            assert_eq!(as_item_below(note, text), line, "{note:?}");
        }
    }
}
