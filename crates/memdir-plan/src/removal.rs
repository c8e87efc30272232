//! Whether a change takes something away.
//!
//! Taken away means: a note or a folder is gone, fewer than half of a note's lines or of its words remain, an item, a row or a key is
//! gone with none of that key in its place, a fact is no longer stated, as where it has become a comment, or the front matter says of
//! the whole note that it belongs to the past, for no answer tells it then. Rewording, reordering and moving are not removal.
//! Pure, and the same in every language.

use std::collections::{BTreeMap, BTreeSet};

use super::{Image, Plan, Step};
use memdir_note::{self as note, Note};

/// How often each line occurs, without blanks around it.
type Counts<'t> = BTreeMap<&'t str, usize>;

impl Plan {
    /// Whether the change takes something away, in the sense of this module.
    #[must_use]
    pub fn takes_away(&self) -> bool {
        if self.sets_aside {
            return true;
        }
        let has_moved = self.steps().iter().any(|step| matches!(step, Step::Move { .. }));
        let puts: Vec<(Option<String>, Option<String>)> =
            self.steps().iter().filter_map(|step| texts(step, has_moved)).collect();
        let puts = || puts.iter().map(|(before, after)| (before.as_deref(), after.as_deref()));
        let mut moved = Counts::new();
        for (before, after) in puts() {
            for (line, count) in less(&lines(after.unwrap_or_default()), &lines(before.unwrap_or_default())) {
                *moved.entry(line).or_default() += count;
            }
        }
        self.steps().iter().any(|step| match step {
            Step::RemoveFolder { .. } => true,
            Step::MakeFolder { .. } | Step::Move { .. } => false,
            // A file that is not text is removed as a whole or not at all.
            Step::Put { before: Some(before), after, .. } if text(before).is_none() => after.is_none(),
            Step::Put { .. } => false,
        }) || puts().any(|(before, after)| before.is_some_and(|before| loses(before, after, &moved)))
    }
}

/// The texts of a file before and after a step; without the targets of its links where something has moved, for these follow.
/// A canvas, which may be one line with all its cards, is left out then.
fn texts(step: &Step, has_moved: bool) -> Option<(Option<String>, Option<String>)> {
    let Step::Put { path, before, after } = step else { return None };
    let is_relinked = has_moved && path.is_canvas() && before.is_some() && after.is_some();
    let compared =
        |image: &Image| text(image).map(|text| if has_moved { without_targets(text) } else { text.to_owned() });
    (!is_relinked).then(|| (before.as_ref().and_then(compared), after.as_ref().and_then(compared)))
}

fn text(image: &Image) -> Option<&str> {
    image.content.text()
}

/// A text without the targets of its links.
fn without_targets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for link in Note::parse(text).links() {
        out.push_str(text.get(from..link.target.start).unwrap_or_default());
        from = link.target.end.max(from);
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// Whether a note loses something that does not stand elsewhere in it, or among what the change adds to others.
fn loses(before: &str, after: Option<&str>, moved: &Counts<'_>) -> bool {
    let (had, has) = (lines(before), lines(after.unwrap_or_default()));
    let lost = less(&less(&had, &has), moved);
    let count = |counts: &Counts<'_>| counts.values().sum::<usize>();
    let Some(after) = after else { return had.is_empty() || !lost.is_empty() };
    (count(&had) - count(&lost)) * 2 < count(&had)
        || loses_words(before, after, moved)
        || loses_facts(before, after, moved)
        || loses_entries(before, after, &lost, &less(&has, &had))
}

/// Whether fewer than half of the words below the headings of a note remain: a paragraph is one line, however long it is.
fn loses_words(before: &str, after: &str, moved: &Counts<'_>) -> bool {
    let is_said = |line: &&str| !line.trim_start().starts_with('#') && !moved.contains_key(line.trim());
    let words = |text: &str| {
        let mut found = BTreeSet::new();
        text.lines().filter(is_said).for_each(|line| {
            note::words::each(line, &mut |word, _| {
                found.insert(word.to_owned());
            });
        });
        found
    };
    let had = words(before);
    let mut has = BTreeSet::new();
    note::words::each(after, &mut |word, _| {
        has.insert(word.to_owned());
    });
    had.intersection(&has).count() * 2 < had.len()
}

/// Whether a fact is no longer stated, as where its line has become a comment, or states nothing any more: to memdir, or to Obsidian,
/// which takes a comment without an end to go to the end of the note.
fn loses_facts(before: &str, after: &str, moved: &Counts<'_>) -> bool {
    let stated = |text: &str, is_obsidian: bool, is_counted: &dyn Fn(usize) -> bool| -> BTreeSet<String> {
        let note = Note::parse(text);
        let end = note.open_comment().filter(|_| is_obsidian).unwrap_or(usize::MAX);
        let facts = note.facts().into_iter().filter(|fact| fact.line < end && is_counted(fact.line));
        let facts = facts.filter(|fact| fact.value.contains(char::is_alphanumeric));
        facts.map(|fact| note::fact::key(&fact.key)).collect()
    };
    let lines: Vec<&str> = before.lines().collect();
    let stands_elsewhere =
        |line: usize| lines.get(line.saturating_sub(1)).is_some_and(|line| moved.contains_key(line.trim()));
    [false, true].into_iter().any(|is_obsidian| {
        let had = stated(before, is_obsidian, &|line| !stands_elsewhere(line));
        had.difference(&stated(after, is_obsidian, &|_| true)).next().is_some()
    })
}

/// Whether more items or rows went from a section than came into it, or a key went with none like it in its place.
fn loses_entries(before: &str, after: &str, lost: &Counts<'_>, gained: &Counts<'_>) -> bool {
    let went = entries(before, lost);
    let came = entries(after, gained);
    let mut balance: BTreeMap<Option<&str>, isize> = BTreeMap::new();
    for entry in &went {
        *balance.entry(entry.heading.as_deref()).or_default() += 1;
    }
    for entry in &came {
        *balance.entry(entry.heading.as_deref()).or_default() -= 1;
    }
    let is_replaced = |key: &String| came.iter().any(|entry| entry.key.as_ref() == Some(key));
    balance.values().any(|more| *more > 0)
        || went.iter().filter_map(|entry| entry.key.as_ref()).any(|key| !is_replaced(key))
}

/// An item of a list, a row of a table, or a line with a key.
struct Entry {
    heading: Option<String>,
    key: Option<String>,
}

/// The entries of a text whose lines are among these, as often as they are.
fn entries(text: &str, among: &Counts<'_>) -> Vec<Entry> {
    let note = Note::parse(text);
    let keys: BTreeMap<usize, String> =
        note.facts().into_iter().map(|fact| (fact.line, note::fact::key(&fact.key))).collect();
    let mut left = among.clone();
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        let Some(count) = left.get_mut(line).filter(|count| **count > 0) else { continue };
        *count -= 1;
        let key = keys.get(&number).cloned();
        if key.is_some() || is_entry(line) {
            found.push(Entry { heading: note.heading_above(number).map(note::Heading::shown), key });
        }
    }
    found
}

/// Whether a line is an item of a list or a row of a table.
fn is_entry(line: &str) -> bool {
    let after_number = line.trim_start_matches(|character: char| character.is_ascii_digit());
    let is_numbered = after_number.len() < line.len() && after_number.starts_with([')', '.']);
    line.starts_with(['-', '*', '+', '|']) || is_numbered
}

/// The lines of a text that say something.
fn lines(text: &str) -> Counts<'_> {
    let mut counts = Counts::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        *counts.entry(line).or_default() += 1;
    }
    counts
}

/// What is left of counts when others are taken from them.
fn less<'t>(counts: &Counts<'t>, others: &Counts<'_>) -> Counts<'t> {
    let rest = |line: &str, count: usize| count.saturating_sub(others.get(line).copied().unwrap_or(0));
    counts.iter().map(|(line, count)| (*line, rest(line, *count))).filter(|(_, count)| *count > 0).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Limits, MapTree, Planner};
    use memdir_core::action::Call;
    use memdir_core::catalog;
    use memdir_policy::{Context, Mode, Rules, review};

    const USER: &str = "---\nborn: 1990\n---\n# Ada\n\n- city: London\n- sister: Ana\n- sister: Eva\n- likes tea\n\n## Work\n\n\
                        | firm | since |\n| --- | --- |\n| Acme | 2019 |\n\nShe works a lot.\n";

    const PARAGRAPH: &str = "We met in Porto, and walked along the river until it was dark.\n";
    const CANVAS: &str = r#"{"nodes":[{"type":"file","file":"old.md"}]}"#;

    #[track_caller]
    fn check(calls: &[Value], expected: bool) {
        let diary = format!("# Diary\n\n{PARAGRAPH}");
        let small = [
            ("diary.md", diary.as_str()),
            ("old.md", "# Old\n\n- x: y\n"),
            ("empty.md", ""),
            ("far/a.md", "# A\n"),
            ("all.md", "[[far/a]]\n"),
            ("past.md", "---\nstatus: deprecated\n---\n# Past\n"),
        ];
        let tree = MapTree::of([("user.md", USER), ("a.canvas", CANVAS)].into_iter().chain(small));
        let past_status = ["deprecated".to_owned()];
        let mut planner = Planner::new(&tree, &Limits::default()).at((1_795_478_400, 0)).with_past_status(&past_status);
        let rules = Rules::default();
        let context =
            Context { mode: Mode::Off, approved: false, read_only: false, client: None, grant: None, rules: &rules };
        for (call, index) in calls.iter().zip(1..) {
            let mut arguments = call.as_object().unwrap().clone();
            let name = arguments.remove("action").unwrap();
            let action = catalog::decode(index, name.as_str().unwrap(), arguments).unwrap();
            let outcome = planner.answer(&review(Call::plain(index, action), &context, &mut Vec::new()).unwrap());
            assert!(outcome.result.is_ok(), "{outcome:?}");
        }
        assert_eq!(planner.finish().takes_away(), expected, "{calls:?}");
    }

    fn edit(old: &str, new: &str) -> Value {
        json!({"action": "update_file", "path": "user.md", "old_content": old, "new_content": new})
    }

    #[test]
    fn what_goes_is_removal() {
        for path in ["user.md", "old.md", "empty.md"] {
            check(&[json!({"action": "delete_file", "path": path})], true);
        }
        check(&[json!({"action": "delete_file", "path": "a.canvas"})], true);
        check(&[edit("- likes tea\n", "")], true);
        check(&[edit("- sister: Eva\n", "")], true);
        check(&[edit("| Acme | 2019 |\n", "")], true);
        check(&[edit("born: 1990\n", "")], true);
        // Another key stands in its place.
        check(&[edit("- city: London", "- country: England")], true);
        check(&[json!({"action": "write_file", "path": "user.md", "content": "# Ada\n\n- nothing\n"})], true);
        // Nothing goes, and nothing is stated any more.
        for comment in ["<!--", "%%", "a %% b"] {
            check(&[json!({"action": "insert_text", "path": "user.md", "line": 4, "content": comment})], true);
        }
        // A fact that comes below a comment without an end is none to Obsidian, and takes nothing away.
        let last = "She works a lot.\n";
        check(&[edit(last, "She works a lot. %%\n")], false);
        check(&[edit(last, "She works a lot. %%\n\n- pet: Rex\n")], false);
        check(&[json!({"action": "set_fact", "path": "user.md", "key": "city", "value": "-"})], true);
        let diary = json!({"action": "update_file", "path": "diary.md", "old_content": PARAGRAPH, "new_content": ""});
        check(&[diary], true);
        // What comes elsewhere does not make up for what goes here.
        check(&[edit("- likes tea\n", ""), edit("She works a lot.", "- works a lot")], true);
    }

    #[test]
    fn a_note_that_is_set_aside_is_removed() {
        let front = |line: &str| edit("born: 1990\n", &format!("born: 1990\n{line}\n"));
        check(&[front("superseded_by: old")], true);
        check(&[front("valid_until: 2020-01-01")], true);
        check(&[front("status: Deprecated")], true);
        check(&[front("valid_until: 2090-01-01")], false);
        check(&[front("status: active")], false);
        let whole = |line: &str, path: &str, text: &str| json!({"action": "write_file", "path": path, "content": format!("---\n{line}\n---\n{text}")});
        check(&[whole("superseded_by: user", "old.md", "# Old\n\n- x: y\n")], true);
        // A note that is new takes nothing away, and neither does more text in one that was set aside before.
        check(&[whole("superseded_by: user", "new.md", "# New\n")], false);
        let more = json!({"action": "append_file", "path": "past.md", "content": "More.\n"});
        check(&[more], false);
    }

    #[test]
    fn what_is_reworded_moved_or_added_is_not() {
        check(&[edit("- city: London", "- city: Paris")], false);
        check(&[edit("- likes tea", "- likes green tea, and coffee")], false);
        check(&[edit("- sister: Ana\n- sister: Eva\n", "- sister: Eva\n- sister: Ana\n")], false);
        check(&[edit("She works a lot.", "She works little.")], false);
        check(&[edit("| Acme | 2019 |", "| Acme | 2020 |\n| Helio | 2021 |")], false);
        check(&[json!({"action": "set_fact", "path": "user.md", "key": "city", "value": "Paris"})], false);
        check(&[json!({"action": "rename_file", "path": "old.md", "new_path": "new.md"})], false);
        check(&[json!({"action": "rename_file", "path": "far/a.md", "new_path": "near/a.md"})], false);
        check(&[json!({"action": "create_file", "path": "new.md", "content": "# New\n"})], false);
        let into = |content: &str| json!({"action": "append_file", "path": "old.md", "content": content});
        check(&[edit("- likes tea\n", ""), into("- likes tea\n")], false);
        check(&[into(USER), json!({"action": "delete_file", "path": "user.md"})], false);
        check(&[], false);
    }
}
