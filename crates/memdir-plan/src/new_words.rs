//! Which words a change brings to notes, without those that are nobody's: what a program adds by itself, and the scaffolding of links;
//! and apart from them those of keys. They show whose words a change is made of. Pure, and the same in every language.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Image, Plan, Step, keyed, remember};
use memdir_core::path::{MemoryPath, PERSON};
use memdir_note::stem::Stem;
use memdir_note::{Fact, Note, words};

/// Words that a change brings to one note, or edits there.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ChangedWords {
    /// All but those of keys.
    pub words: BTreeSet<String>,
    /// Those that are only in keys of one word. Whoever notes a fact chooses its key, so these tell nothing of whose words it is made of,
    /// unless a tool has said them.
    pub keys: BTreeSet<String>,
}

impl Plan {
    /// For each note, or name, that the change touches, the words of which there are more after it than before. A word that the note
    /// has in another place is new all the same: an attack mostly stands in the note that it wants to change.
    #[must_use]
    pub fn new_words(&self) -> Vec<ChangedWords> {
        let named = named_by_title(self);
        let both = sides(self, &named);
        both.map(|(before, after)| ChangedWords::of(|keys| added(&before, &after, &named, keys))).collect()
    }

    /// For each note that the change edits without a new word, the words of which there are fewer after it, but for those that it puts
    /// into another note. Where something is renamed, links follow, and nothing counts.
    #[must_use]
    pub fn cut_words(&self) -> Vec<ChangedWords> {
        if self.steps().iter().any(|step| matches!(step, Step::Move { .. })) {
            return Vec::new();
        }
        let none = BTreeSet::new();
        let both: Vec<_> = sides(self, &none).collect();
        let added = |before: &str, after: &str| added(before, after, &none, Keys::Leave);
        let brought: BTreeSet<String> = both.iter().flat_map(|(before, after)| added(before, after)).collect();
        let cut = both.iter().filter(|(before, after)| added(before, after).is_empty());
        let cut = cut.map(|(before, after)| &added(after, before) - &brought).filter(|words| !words.is_empty());
        cut.map(|words| ChangedWords { words, ..ChangedWords::default() }).collect()
    }

    /// The stems of what the notes that the change touches said before it.
    #[must_use]
    pub fn stems_before(&self) -> BTreeSet<Stem> {
        let mut stems = BTreeSet::new();
        for (before, _) in sides(self, &BTreeSet::new()) {
            add_stems(&before, usize::MAX, &mut stems);
        }
        stems
    }

    /// For each note that the change edits or removes, the words that say what is done there though no word is new: the name of what is
    /// gone, those of lines that it takes away, and those of lines in which it changes no more than a mark, as where a task is ticked.
    /// Where something is renamed, lines whose links follow do not count.
    #[must_use]
    pub fn edited_words(&self) -> Vec<ChangedWords> {
        let (has_moved, takes_away) =
            (self.steps().iter().any(|step| matches!(step, Step::Move { .. })), self.takes_away());
        let none = BTreeSet::new();
        let words = |text: &str| ChangedWords::of(|keys| words_of(text, &none, keys).into_keys().collect());
        let mut found = Vec::new();
        for step in self.steps() {
            match step {
                Step::Put { path, before: Some(_), after: None } => found.push(words(path.stem())),
                Step::RemoveFolder { path, .. } => found.push(words(name(path))),
                Step::Put { before: Some(before), after: Some(after), .. } if !has_moved => {
                    let (before, after) = (text(Some(before)), text(Some(after)));
                    let new = added(before, after, &none, Keys::Leave);
                    if new.iter().all(|word| word.chars().nth(1).is_none()) {
                        found.push(words(&lines_without(after, before)));
                    }
                    if takes_away {
                        found.push(words(&lines_without(before, after)));
                    }
                }
                Step::Put { .. } | Step::Move { .. } | Step::MakeFolder { .. } => {}
            }
        }
        found
    }
}

impl ChangedWords {
    /// Of what there is with keys and without them.
    fn of(words: impl Fn(Keys) -> BTreeSet<String>) -> Self {
        let (all, words) = (words(Keys::Count), words(Keys::Leave));
        Self { keys: &all - &words, words }
    }
}

/// What becomes of keys of one word.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Keys {
    Count,
    Leave,
}

/// The words of which there are more after a change than before.
fn added(before: &str, after: &str, named: &BTreeSet<&MemoryPath>, keys: Keys) -> BTreeSet<String> {
    let before = words_of(before, named, keys);
    let is_new = |(word, count): &(String, usize)| before.get(word).is_none_or(|before| before < count);
    words_of(after, named, keys).into_iter().filter(is_new).map(|(word, _)| word).collect()
}

/// The lines of a text that the other does not have.
fn lines_without(text: &str, other: &str) -> String {
    let other: BTreeSet<&str> = other.lines().map(str::trim).collect();
    text.lines().filter(|line| !other.contains(line.trim())).map(|line| format!("{line}\n")).collect()
}

/// Adds the stems of all words of a text, in every language, until there are `most`; says whether these are all.
pub fn add_stems(text: &str, most: usize, found: &mut BTreeSet<Stem>) -> bool {
    let (mut distinct, mut is_whole) = (BTreeSet::new(), true);
    words::each(text, &mut |word, _| {
        if !distinct.contains(word) {
            is_whole &= found.len() + distinct.len() < most;
            if is_whole {
                distinct.insert(word.to_owned());
            }
        }
    });
    for word in &distinct {
        is_whole &= found.len() < most;
        if is_whole {
            found.extend(stems(word));
        }
    }
    is_whole
}

/// The stems of a word in every language; a number is the same with and without leading zeros.
#[must_use]
pub fn stems(word: &str) -> Vec<Stem> {
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    Stem::forms(if is_number { word.trim_start_matches('0') } else { word })
}

/// A key of more words says something itself; `favourite_colour` has two.
const MOST_KEY_WORDS: usize = 2;
/// Between a key and its value stand at most so many bytes of marks and blanks.
const MOST_KEY_GAP: usize = 64;
/// Folders that the program itself files new notes and entries in: their names are nobody's words.
const OWN_FOLDERS: [&str; 2] = [remember::FOLDER, keyed::FOLDER];

/// The notes that a change makes whose names have no more words than their titles: such a name is the title again, perhaps in other
/// letters.
fn named_by_title(plan: &Plan) -> BTreeSet<&MemoryPath> {
    let made = plan.steps().iter().filter_map(|step| match step {
        Step::Put { path, before: None, after } => Some((path, Note::parse(text(after.as_ref())).title()?)),
        Step::Put { .. } | Step::Move { .. } | Step::MakeFolder { .. } | Step::RemoveFolder { .. } => None,
    });
    made.filter(|(path, title)| count_words(path.stem()) <= count_words(title)).map(|(path, _)| path).collect()
}

/// What a change does to each note or name, before and after. Folder names in paths do not count.
fn sides<'p>(plan: &'p Plan, named: &BTreeSet<&MemoryPath>) -> impl Iterator<Item = (Cow<'p, str>, Cow<'p, str>)> {
    plan.steps().iter().filter_map(|step| match step {
        Step::Put { path, before: None, after } => {
            let name = if named.contains(path) { "" } else { path.stem() };
            Some(("".into(), format!("{name}\n{}", text(after.as_ref())).into()))
        }
        Step::Put { before, after, .. } => Some((text(before.as_ref()).into(), text(after.as_ref()).into())),
        Step::Move { from, to, .. } => Some((name(from).into(), name(to).into())),
        Step::MakeFolder { path, .. } if OWN_FOLDERS.contains(&path.as_str()) => None,
        Step::MakeFolder { path, .. } => Some(("".into(), name(path).into())),
        Step::RemoveFolder { .. } => None,
    })
}

fn count_words(text: &str) -> usize {
    let mut count = 0;
    words::each(text, &mut |_, _| count += 1);
    count
}

/// A path without the extension of notes, which nobody says.
fn name(path: &MemoryPath) -> &str {
    path.as_str().strip_suffix(".md").unwrap_or(path.as_str())
}

fn text(image: Option<&Image>) -> &str {
    image.and_then(|image| image.content.text()).unwrap_or_default()
}

/// How often each word is in a text, but for its scaffolding: the folders of links, links to the person's own note and to
/// notes that are made under the words of their titles, and keys of one word where these are left out.
fn words_of(text: &str, named: &BTreeSet<&MemoryPath>, keys: Keys) -> BTreeMap<String, usize> {
    let note = Note::parse(text);
    let mut scaffolding: Vec<Range<usize>> = Vec::new();
    for link in note.links() {
        let target = text.get(link.target.clone()).unwrap_or_default();
        let bare = target.strip_suffix(".md").unwrap_or(target);
        let is_person = bare.rsplit('/').next() == Some(PERSON);
        let is_whole = is_person || named.iter().any(|path| name(path) == bare || path.stem() == bare);
        let length = if is_whole { Some(target.len()) } else { target.rfind('/') };
        scaffolding.extend(length.map(|length| link.target.start..link.target.start + length));
    }
    // A key that is a sentence, or stands alone, says something itself.
    let is_label = |key: &str| !key.contains(char::is_whitespace) && count_words(key) <= MOST_KEY_WORDS;
    let says_nothing = |fact: &Fact| keys == Keys::Leave && !fact.value.is_empty() && is_label(&fact.key);
    for fact in note.facts().into_iter().filter(says_nothing) {
        let window = text.floor_char_boundary(fact.span.start.saturating_sub(fact.key.len() + MOST_KEY_GAP));
        let key = text.get(window..fact.span.start).and_then(|before| before.rfind(&fact.key));
        scaffolding.extend(key.map(|key| window + key..window + key + fact.key.len()));
    }
    scaffolding.sort_by_key(|range| range.start);
    let is_scaffolding = |at: usize| {
        let before = scaffolding.partition_point(|range| range.start <= at);
        before.checked_sub(1).and_then(|last| scaffolding.get(last)).is_some_and(|range| range.contains(&at))
    };
    let mut found = BTreeMap::new();
    words::each(text, &mut |word, place| {
        if !is_scaffolding(place.start) {
            *found.entry(word.to_owned()).or_default() += 1;
        }
    });
    found
}
