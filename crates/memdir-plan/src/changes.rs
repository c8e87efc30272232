//! [`note_changes`]: what a change did to each note, in words for a person.
//!
//! Owns those words. They are made from the texts before and after and from nothing else, so that they hold whatever
//! actions made the change and whatever language a note is written in.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;

use similar::DiffTag;
use unicode_segmentation::UnicodeSegmentation;

use super::change::{changed, names, renames};
use super::step::{Image, Step};
use super::{diff, words};
use memdir_core::path::MemoryPath;
use memdir_core::report::Kind;
use memdir_note::fact::{Place, key};
use memdir_note::{Fact, Note, words as note_words};

/// What a change did to one file or folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NoteChange {
    /// Its name after the change; a folder's ends with `/`.
    pub name: String,
    /// What was done to it, each without a line end.
    pub lines: Vec<ChangeLine>,
}

/// One line of what was done to a note. It holds text of the note as it is written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChangeLine {
    /// Such as `city: Porto → Lisbon`, `+ likes tulips` or `new note, 3 lines`.
    pub words: String,
    /// Whether a note, or more than half of a long one, is gone.
    pub is_loss: bool,
}

/// How many lines of a note are quoted; one more where that is the last.
const MOST_LINES: usize = 3;
/// From so many lines on, losing more than half of them is a loss that stands out.
const LONG_NOTE: usize = 10;
/// How much of a line is shown, in characters as a reader counts them.
const LINE_WIDTH: usize = 72;
/// How much of a value is shown.
const VALUE_WIDTH: usize = 40;
/// How much is shown before the place where two long texts begin to differ.
const LEAD: usize = 12;

impl From<String> for ChangeLine {
    fn from(words: String) -> Self {
        Self { words, is_loss: false }
    }
}

impl ChangeLine {
    fn loss(words: String) -> Self {
        Self { words, is_loss: true }
    }
}

/// Tells what steps do, by the names of the notes.
///
/// Notes of which only links were changed, beside a rename, are counted there and not listed.
#[must_use]
pub fn note_changes(steps: &[Step]) -> Vec<NoteChange> {
    let renamed = renames(steps);
    let named = changed(steps);
    let mut found = BTreeMap::<String, Vec<ChangeLine>>::new();
    let (mut links, mut linking) = (0, 0);
    for (step, name) in steps.iter().zip(names(steps)) {
        let Some(path) = name else { continue };
        match step {
            Step::Put { before, after, .. } => {
                let followed = followed_links(&renamed, before.as_ref(), after.as_ref());
                if let Some(followed) = followed {
                    (links, linking) = (links + followed, linking + 1);
                    continue;
                }
                found.entry(path.to_string()).or_default().extend(put(&path, before.as_ref(), after.as_ref()));
            }
            Step::MakeFolder { .. } if named.contains(&path) => {
                found.entry(format!("{path}/")).or_default().push("new folder".to_owned().into());
            }
            Step::RemoveFolder { .. } if named.contains(&path) => {
                found.entry(format!("{path}/")).or_default().push("deleted folder".to_owned().into());
            }
            Step::MakeFolder { .. } | Step::RemoveFolder { .. } | Step::Move { .. } => {}
        }
    }
    let links = words::count(links, "link");
    for (from, to) in &renamed {
        let slash = if is_folder(steps, from) { "/" } else { "" };
        let also = if linking > 0 && renamed.len() == 1 { format!(", {links} followed") } else { String::new() };
        found.entry(format!("{to}{slash}")).or_default().insert(0, format!("renamed from {from}{slash}{also}").into());
    }
    let mut changes: Vec<NoteChange> = found.into_iter().map(|(name, lines)| NoteChange { name, lines }).collect();
    if linking > 0 && renamed.len() > 1 {
        let name = words::count(linking, "note");
        changes.push(NoteChange { name, lines: vec![format!("{links} followed").into()] });
    }
    changes
}

fn is_folder(steps: &[Step], path: &MemoryPath) -> bool {
    steps.iter().any(|step| matches!(step, Step::Move { from, kind: Kind::Directory, .. } if from == path))
}

/// How many links of a note follow what was renamed, where nothing else in it is different.
fn followed_links(
    renamed: &[(MemoryPath, MemoryPath)],
    before: Option<&Image>,
    after: Option<&Image>,
) -> Option<usize> {
    let is_renamed = |target: &str| {
        let mut names = target.split('/').map(|name| name.strip_suffix(".md").unwrap_or(name));
        names.any(|name| renamed.iter().any(|(_, to)| to.stem() == name))
    };
    let (old, new) = (before?.content.text()?, after?.content.text()?);
    let (old_links, new_links) = (Note::parse(old).links(), Note::parse(new).links());
    if old_links.len() != new_links.len() {
        return None;
    }
    let (mut followed, mut old_end, mut new_end) = (0, 0, 0);
    for (one, other) in old_links.iter().zip(&new_links) {
        if old.get(old_end..one.target.start)? != new.get(new_end..other.target.start)? {
            return None;
        }
        if old.get(one.target.clone())? != new.get(other.target.clone())? {
            is_renamed(&other.path).then_some(())?;
            followed += 1;
        }
        (old_end, new_end) = (one.target.end, other.target.end);
    }
    (followed > 0 && old.get(old_end..)? == new.get(new_end..)?).then_some(followed)
}

fn put(path: &MemoryPath, before: Option<&Image>, after: Option<&Image>) -> Vec<ChangeLine> {
    let noun = words::noun(path);
    let size = |image: &Image| image.content.text().map(|text| words::count(text.lines().count(), "line"));
    match (before, after) {
        (None, None) => Vec::new(),
        (None, Some(after)) => {
            vec![size(after).map_or_else(|| format!("new {noun}"), |size| format!("new {noun}, {size}")).into()]
        }
        (Some(before), None) => {
            let words = size(before).map_or_else(|| "deleted".to_owned(), |size| format!("deleted ({size})"));
            vec![ChangeLine::loss(words)]
        }
        (Some(before), Some(after)) if before.content == after.content => vec!["permissions changed".to_owned().into()],
        (Some(before), Some(after)) => match before.content.text().zip(after.content.text()) {
            Some((before, after)) => compare(before, after),
            None => vec!["changed; it is no text".to_owned().into()],
        },
    }
}

/// One side of a comparison.
struct Side<'t> {
    lines: Vec<&'t str>,
    /// The lines, from 0, that a changed fact or a move explains.
    explained: Vec<bool>,
}

impl<'t> Side<'t> {
    fn of(text: &'t str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        Self { explained: vec![false; lines.len()], lines }
    }

    fn line(&self, at: usize) -> &'t str {
        self.lines.get(at).copied().unwrap_or_default().trim()
    }

    fn explain(&mut self, at: usize) {
        if let Some(explained) = self.explained.get_mut(at) {
            *explained = true;
        }
    }

    fn is_explained(&self, at: usize) -> bool {
        self.explained.get(at).copied().unwrap_or(false)
    }

    /// The lines of a range that nothing explains yet and that are not blank.
    fn rest(&self, range: Range<usize>) -> Vec<&'t str> {
        range.filter(|at| !self.is_explained(*at)).map(|at| self.line(at)).filter(|line| !line.is_empty()).collect()
    }
}

fn compare(before: &str, after: &str) -> Vec<ChangeLine> {
    let (mut old, mut new) = (Side::of(before), Side::of(after));
    let ops = diff::ops(&old.lines, &new.lines);
    let ops: Vec<_> = ops.into_iter().filter(|op| op.tag() != DiffTag::Equal).collect();
    let removed: Vec<usize> = ops.iter().flat_map(similar::DiffOp::old_range).collect();
    let added: Vec<usize> = ops.iter().flat_map(similar::DiffOp::new_range).collect();
    let facts = changed_facts((before, &removed, &mut old), (after, &added, &mut new));
    let moved = moved_lines((&removed, &mut old), (&added, &mut new));
    let mut said = Vec::new();
    for op in &ops {
        let here = |fact: &&FactChange| {
            fact.new.is_some_and(|line| op.new_range().contains(&line))
                || fact.old.is_some_and(|line| op.old_range().contains(&line))
        };
        said.extend(facts.iter().filter(here).map(|fact| fact.words.clone()));
        let (gone, come) = (old.rest(op.old_range()), new.rest(op.new_range()));
        let pairs = gone.len().min(come.len());
        let both = gone.iter().zip(&come).map(|(gone, come)| excerpts(item(gone), item(come), LINE_WIDTH));
        let (mut olds, mut news): (Vec<String>, Vec<String>) = both.unzip();
        olds.extend(gone.iter().skip(pairs).map(|line| shortened(item(line), LINE_WIDTH)));
        news.extend(come.iter().skip(pairs).map(|line| shortened(item(line), LINE_WIDTH)));
        said.extend(olds.into_iter().map(|line| format!("- {line}")));
        said.extend(news.into_iter().map(|line| format!("+ {line}")));
    }
    let mut lines = Vec::new();
    let lost = removed.iter().filter(|at| !old.is_explained(**at)).count();
    if old.lines.len() >= LONG_NOTE && lost * 2 > old.lines.len() {
        lines.push(ChangeLine::loss(format!("\u{2212}{lost} of {} lines", old.lines.len())));
    }
    let shown = if said.len() == MOST_LINES + 1 { said.len() } else { MOST_LINES };
    let more = said.len().saturating_sub(shown);
    lines.extend(said.into_iter().take(shown).map(ChangeLine::from));
    if more > 0 {
        lines.push(format!("and {}", words::count(more, "more line")).into());
    }
    if moved > 0 {
        lines.push(format!("{} moved", words::count(moved, "line")).into());
    }
    if lines.is_empty() {
        lines.push("only blanks and line ends changed".to_owned().into());
    }
    lines
}

/// A fact whose value is another one now.
struct FactChange {
    /// A line of it that changed in the old text, where none in the new one says it.
    old: Option<usize>,
    /// The same in the new one.
    new: Option<usize>,
    words: String,
}

/// A fact, and the lines on which it stands, from 0.
struct Stated {
    id: (String, Option<String>),
    fact: Fact,
    lines: Range<usize>,
}

/// Finds the facts that are stated on both sides, under the same heading, with another value; explains their lines.
fn changed_facts(
    (before, removed, old): (&str, &[usize], &mut Side<'_>),
    (after, added, new): (&str, &[usize], &mut Side<'_>),
) -> Vec<FactChange> {
    let (mut stated, mut now) = (stated(before), stated(after));
    // What is said on both sides has not changed, wherever it stands now.
    let mut same = HashMap::<_, usize>::new();
    for one in &stated {
        *same.entry((one.id.clone(), one.fact.value.clone())).or_default() += 1;
    }
    let mut kept = HashMap::<_, usize>::new();
    now.retain(|one| {
        let said = (one.id.clone(), one.fact.value.clone());
        match same.get_mut(&said).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                *kept.entry(said).or_default() += 1;
                false
            }
            None => true,
        }
    });
    stated.retain(|one| match kept.get_mut(&(one.id.clone(), one.fact.value.clone())).filter(|count| **count > 0) {
        Some(count) => {
            *count -= 1;
            false
        }
        None => true,
    });
    let mut others = HashMap::<_, VecDeque<Stated>>::new();
    for other in now {
        others.entry(other.id.clone()).or_default().push_back(other);
    }
    let mut found = Vec::new();
    for one in stated {
        let Some(other) = others.get_mut(&one.id).and_then(VecDeque::pop_front) else { continue };
        // What else a line says is no part of the fact, and has to be shown too.
        if around(before, &one.fact) != around(after, &other.fact) {
            continue;
        }
        let (gone, come) = (within(removed, &one.lines), within(added, &other.lines));
        let (old_line, new_line) = match (gone.first(), come.first()) {
            (None, None) => continue,
            (Some(line), None) => (Some(*line), None),
            (_, line) => (None, line.copied()),
        };
        let (from, to) = excerpts(&one.fact.value, &other.fact.value, VALUE_WIDTH);
        let words = format!("{}: {from} → {to}", shortened(&other.fact.key, VALUE_WIDTH));
        found.push(FactChange { old: old_line, new: new_line, words });
        gone.iter().for_each(|at| old.explain(*at));
        come.iter().for_each(|at| new.explain(*at));
    }
    found.sort_by_key(|fact| (fact.new, fact.old));
    found
}

/// The words before and behind the value of a fact on its lines, its key among them. In the front matter nothing else stands there.
fn around(text: &str, fact: &Fact) -> Option<[Vec<String>; 2]> {
    if matches!(fact.place, Place::FrontMatter(_)) {
        return None;
    }
    let (before, behind) = (text.get(..fact.span.start)?, text.get(fact.span.end..)?);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    Some([before.get(start..)?, behind.lines().next().unwrap_or_default()].map(|part| {
        let mut found = Vec::new();
        note_words::each(part, &mut |word, _| found.push(word.to_owned()));
        found
    }))
}

/// Those of some numbers, which are in order, that lie in a range.
fn within<'n>(numbers: &'n [usize], range: &Range<usize>) -> &'n [usize] {
    let place = |limit: usize| numbers.partition_point(|number| *number < limit);
    numbers.get(place(range.start)..place(range.end)).unwrap_or_default()
}

fn stated(text: &str) -> Vec<Stated> {
    let note = Note::parse(text);
    let facts = note.facts();
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
    let line_at = |at: usize| ends.partition_point(|end| *end < at);
    let front = line_at(note.body());
    let ends: Vec<usize> = facts
        .iter()
        .enumerate()
        .map(|(at, fact)| match fact.place {
            // The items of a list stand below its key, up to the next one.
            Place::FrontMatter(_) => {
                let next = facts.get(at + 1).filter(|next| matches!(next.place, Place::FrontMatter(_)));
                next.map_or(front.saturating_sub(1), |next| next.line - 1).max(fact.line)
            }
            Place::Item { .. } | Place::Line | Place::Bracketed(_) | Place::Row => {
                line_at(fact.span.end).max(fact.line - 1) + 1
            }
        })
        .collect();
    let stated = facts.into_iter().zip(ends).map(|(fact, end)| Stated {
        id: (key(&fact.key), fact.heading.clone()),
        lines: fact.line - 1..end,
        fact,
    });
    stated.collect()
}

/// How many lines stand elsewhere now; explains them.
fn moved_lines((removed, old): (&[usize], &mut Side<'_>), (added, new): (&[usize], &mut Side<'_>)) -> usize {
    let mut places = HashMap::<&str, Vec<usize>>::new();
    for at in added.iter().rev().filter(|at| !new.is_explained(**at)) {
        places.entry(new.line(*at)).or_default().push(*at);
    }
    let mut moved = 0;
    for at in removed {
        let line = old.line(*at);
        if line.is_empty() || old.is_explained(*at) {
            continue;
        }
        if let Some(place) = places.get_mut(line).and_then(Vec::pop) {
            old.explain(*at);
            new.explain(place);
            moved += 1;
        }
    }
    moved
}

/// A line without the mark of a list.
fn item(line: &str) -> &str {
    let marked = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
    marked.map(str::trim_start).filter(|rest| !rest.is_empty()).unwrap_or(line)
}

fn shortened(text: &str, width: usize) -> String {
    let mut graphemes = text.grapheme_indices(true);
    match graphemes.nth(width).and_then(|(end, _)| text.get(..end)) {
        Some(start) => format!("{}…", start.trim_end()),
        None => text.to_owned(),
    }
}

/// Two texts, shortened so that what differs is seen.
fn excerpts(one: &str, other: &str, width: usize) -> (String, String) {
    let is_short = |text: &str| text.graphemes(true).nth(width).is_none();
    if is_short(one) && is_short(other) {
        return (one.to_owned(), other.to_owned());
    }
    let same = one.graphemes(true).zip(other.graphemes(true)).take_while(|(one, other)| one == other).count();
    let skipped = if same > 2 * LEAD { same - LEAD } else { 0 };
    let cut = |text: &str| {
        let start = text.grapheme_indices(true).nth(skipped).map_or(0, |(start, _)| start);
        let lead = if start > 0 { "…" } else { "" };
        format!("{lead}{}", shortened(text.get(start..).unwrap_or_default().trim_start(), width))
    };
    (cut(one), cut(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Content;

    fn path(text: &str) -> MemoryPath {
        MemoryPath::parse(text).unwrap()
    }

    fn put_step(name: &str, before: Option<&str>, after: Option<&str>) -> Step {
        let image = |text: &str| Image { content: Content::new(text.as_bytes()), mode: None };
        Step::Put { path: path(name), before: before.map(image), after: after.map(image) }
    }

    fn moved(from: &str, to: &str) -> Step {
        Step::Move { from: path(from), to: path(to), kind: Kind::File }
    }

    /// The words of steps, one line each; a loss begins with `!`.
    fn said(steps: &[Step]) -> String {
        let mut lines = Vec::new();
        for change in note_changes(steps) {
            for line in change.lines {
                lines.push(format!("{}{}: {}", if line.is_loss { "!" } else { "" }, change.name, line.words));
            }
        }
        lines.join("\n")
    }

    #[track_caller]
    fn check(before: &str, after: &str, expected: &[&str]) {
        let lines: Vec<String> = compare(before, after).into_iter().map(|line| line.words).collect();
        assert_eq!(lines, expected, "{before:?} → {after:?}");
    }

    #[test]
    fn a_fact_is_told_by_its_key_in_whatever_form_it_is_written() {
        check("# Me\n\n- city: Freiburg\n", "# Me\n\n- city: Berlin\n", &["city: Freiburg → Berlin"]);
        check("- **City**: Freiburg\n", "- city: Berlin\n", &["city: Freiburg → Berlin"]);
        check("City:: a\n", "City:: b\n", &["City: a → b"]);
        check("| a | b |\n|-|-|\n| city | Ulm |\n", "| a | b |\n|-|-|\n| city | Köln |\n", &["city: Ulm → Köln"]);
        check("---\ncity: Ulm\n---\n# A\n", "---\ncity: Köln\n---\n# A\n", &["city: Ulm → Köln"]);
        check("---\ntags: [a, b]\n---\n", "---\ntags: [a, c]\n---\n", &["tags: a, b → a, c"]);
        let (list, longer) = ("---\ntags:\n  - a\nkind: x\n---\n", "---\ntags:\n  - a\n  - b\nkind: x\n---\n");
        check(list, longer, &["tags: a → a, b"]);
        check(longer, list, &["tags: a, b → a"]);
        // What else its line says is shown too.
        let (old, new) = ("Pay 100 to Bob [due:: 2020]", "Pay 9000 to Eve [due:: 2021]");
        check(&format!("{old}\n"), &format!("{new}\n"), &[&format!("- {old}"), &format!("+ {new}")]);
        check("- 城市: 北京\n", "- 城市: 上海\n", &["城市: 北京 → 上海"]);
        check("- a: 1\n- b: 1\n", "- b: 2\n- a: 2\n", &["b: 1 → 2", "a: 1 → 2"]);
    }

    #[test]
    fn only_links_that_follow_a_rename_are_counted() {
        let rename = || moved("ada.md", "eva.md");
        let linking = |after: &str| vec![rename(), put_step("b.md", Some("- [[ada|Ada]]\n"), Some(after))];
        assert_eq!(said(&linking("- [[eva|Ada]]\n")), "eva.md: renamed from ada.md, 1 link followed");
        assert!(said(&linking("- [[mal|Ada]]\n")).contains("b.md: "), "{}", said(&linking("- [[mal|Ada]]\n")));
        assert!(said(&linking("- [[eva|Eva, whom I trust]]\n")).contains("b.md: "));
    }

    #[test]
    fn a_fact_under_another_heading_is_another_fact() {
        check("# A\n- city: Ulm\n# B\n- city: Bonn\n", "# A\n- city: Bonn\n# B\n- city: Bonn\n", &["city: Ulm → Bonn"]);
        check("# A\n- phone: 1\n", "# A\n- phone: 0\n- phone: 1\n", &["+ phone: 0"]);
        check("# A\n- phone: 1\n- phone: 2\n", "# A\n- phone: 2\n", &["- phone: 1"]);
    }

    #[test]
    fn lines_are_quoted_and_the_rest_is_counted() {
        check("# Me\n", "# Me\n\n- I like green tea\n", &["+ I like green tea"]);
        check("a\nb\n", "a\n", &["- b"]);
        check("a\n", "a\nb\nc\nd\ne\n", &["+ b", "+ c", "+ d", "+ e"]);
        check("a\n", "a\nb\nc\nd\ne\nf\n", &["+ b", "+ c", "+ d", "and 2 more lines"]);
        check("I live here\n", "I live there\n", &["- I live here", "+ I live there"]);
        check("a\nb\nc\n", "c\na\nb\n", &["1 line moved"]);
        check("a\n", "a\n\n\n", &["only blanks and line ends changed"]);
        check("a\r\nb\r\n", "a\nb\n", &["only blanks and line ends changed"]);
        check("a\n", "a", &["only blanks and line ends changed"]);
    }

    #[test]
    fn of_long_texts_the_place_is_shown_where_they_differ() {
        let (lead, tail) = ("word ".repeat(30), " tail".repeat(30));
        let texts = |word: &str| format!("- about: {lead}{word}{tail}\n");
        let shown = compare(&texts("Freiburg"), &texts("Berlin"));
        assert!(shown[0].words.contains("Freiburg") && shown[0].words.contains("Berlin"), "{shown:?}");
        assert!(shown[0].words.chars().count() < 120, "{shown:?}");
        let shown = compare(&format!("{lead}Freiburg{tail}\n"), &format!("{lead}Berlin{tail}\n"));
        assert!(shown[0].words.contains("Freiburg") && shown[1].words.contains("Berlin"), "{shown:?}");
        // A character of several parts stays whole.
        let family = "👨‍👩‍👧".repeat(100);
        assert_eq!(shortened(&family, 2), "👨‍👩‍👧👨‍👩‍👧…");
    }

    #[test]
    fn a_large_loss_stands_out() {
        let long: String = (0..52).map(|line| format!("line {line}\n")).collect();
        let kept: String = (0..12).map(|line| format!("line {line}\n")).collect();
        let steps = |after: &str| [put_step("a.md", Some(&long), Some(after))];
        assert!(said(&steps(&kept)).starts_with("!a.md: \u{2212}40 of 52 lines\na.md: - line 12\n"));
        let half: String = (0..26).map(|line| format!("line {line}\n")).collect();
        assert!(!said(&steps(&half)).contains('!'), "a half is not more than half");
        let turned: String = (0..52).rev().map(|line| format!("line {line}\n")).collect();
        assert!(!said(&steps(&turned)).contains('!'), "what is moved is not lost");
        assert_eq!(said(&[put_step("a.md", Some("a\nb"), Some("c"))]), "a.md: - a\na.md: - b\na.md: + c");
        assert_eq!(said(&[put_step("a.md", Some(&long), None)]), "!a.md: deleted (52 lines)");
        assert_eq!(said(&[put_step("a.md", None, Some("# A\n"))]), "a.md: new note, 1 line");
        assert_eq!(said(&[put_step("a.png", None, Some("# A\n"))]), "a.png: new file, 1 line");
    }

    #[test]
    fn a_rename_tells_how_many_links_follow_it() {
        let friend = put_step("user.md", Some("- [[ada]] and [x](ada.md)\n"), Some("- [[eve]] and [x](eve.md)\n"));
        let steps = [moved("ada.md", "eve.md"), friend.clone()];
        assert_eq!(said(&steps), "eve.md: renamed from ada.md, 2 links followed");
        // A link that somebody wrote anew is a change of its own, and so is one beside other words.
        assert_eq!(said(std::slice::from_ref(&friend)).lines().count(), 2);
        let more = put_step("user.md", Some("- [[ada]]\n"), Some("- [[eve]] is here\n"));
        assert_eq!(
            said(&[moved("ada.md", "eve.md"), more]),
            "eve.md: renamed from ada.md\nuser.md: - [[ada]]\nuser.md: + [[eve]] is here"
        );
        let folder = Step::Move { from: path("people"), to: path("friends"), kind: Kind::Directory };
        assert_eq!(said(&[folder]), "friends/: renamed from people/");
        let two = [moved("ada.md", "eve.md"), moved("b.md", "c.md"), friend];
        assert_eq!(said(&two), "c.md: renamed from b.md\neve.md: renamed from ada.md\n1 note: 2 links followed");
    }

    proptest::proptest! {
        /// Whatever the notes are, something is said of a difference, and what is quoted stands in the note.
        #[test]
        fn what_is_quoted_stands_in_the_note(
            before in "(- a: [1-3]\n|- b: [1-3]\n|# [ab]\n|x[yz]\n|\n|---\n|k: [12]\r\n| - \\[\\[n\\]\\]\n|é|> q\n){0,8}",
            after in "(- a: [1-3]\n|- b: [1-3]\n|# [ab]\n|x[yz]\n|\n|---\n|k: [12]\r\n| - \\[\\[n\\]\\]\n|é|> q\n){0,8}",
        ) {
            let lines = note_changes(&[put_step("a.md", Some(&before), Some(&after))]).pop().unwrap().lines;
            proptest::prop_assert!(!lines.is_empty() && lines.len() <= MOST_LINES + 3, "{lines:?}");
            for line in lines {
                if let Some(added) = line.words.strip_prefix("+ ") {
                    proptest::prop_assert!(after.contains(added), "{added:?}");
                } else if let Some(removed) = line.words.strip_prefix("- ") {
                    proptest::prop_assert!(before.contains(removed), "{removed:?}");
                }
            }
        }
    }

    #[test]
    fn folders_and_files_that_are_no_text() {
        let made = Step::MakeFolder { path: path("a"), mode: None };
        assert_eq!(said(std::slice::from_ref(&made)), "a/: new folder");
        assert_eq!(said(&[made, put_step("a/b.md", None, Some(""))]), "a/b.md: new note, 0 lines");
        let image = |bytes: &[u8]| Some(Image { content: Content::new(bytes), mode: None });
        let put = Step::Put { path: path("a.png"), before: image(b"\xff"), after: image(b"\xfe") };
        assert_eq!(said(&[put]), "a.png: changed; it is no text");
    }
}
