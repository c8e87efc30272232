//! The actions that know the inside of a note: sections and facts.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::tree::Tree;
use crate::{Answer, Planner, lines, words, write};
use memdir_core::action::{Action, AppendToSection, Call, CreateFile, ReplaceSection, SetFact};
use memdir_core::catalog::{nearest, shorten};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_note::Note;
use memdir_note::fact::{MOST_KEY_WORDS, NO_KEY_SIGNS, Unset, mended_key};
use memdir_note::heading::Found;

/// At most so many headings are listed in one sentence.
const MOST_NAMES: usize = 8;
/// A longer note is not written out in a hint.
const MOST_HINT: usize = 400;

impl<T: Tree> Planner<'_, T> {
    pub(super) fn replace_section(&mut self, call: &Call, replace: &ReplaceSection) -> Result<Answer, Failure> {
        let (path, now, text) = self.text_to_edit(&replace.path)?;
        let note = Note::parse(&text);
        let at = find(&replace.path, &note, &replace.heading)?;
        self.check_unchanged(&replace.path, &path, &now)?;
        let after = replaced(&text, &note, at, &replace.content);
        self.replace(call, &replace.path, path, now, after)
    }

    pub(super) fn append_to_section(&mut self, call: &Call, append: &AppendToSection) -> Result<Answer, Failure> {
        let (path, now, text) = self.text_to_edit(&append.path)?;
        let note = Note::parse(&text);
        let at = find(&append.path, &note, &append.heading)?;
        let own = note.own_text(at);
        let filled = filled(&text, &own);
        let last = note.line_at(filled.end.max(own.start).saturating_sub(1));
        let mut content = append.content.clone();
        if filled.end == own.end && is_underlined(&text, own.end) && !content.is_empty() {
            // Without a blank line what is added would become part of that heading.
            content.push_str(if content.ends_with(['\n', '\r']) { "\n" } else { "\n\n" });
        }
        let after = write::added(&append.path, &text, last, &content)?;
        self.replace(call, &append.path, path, now, after)
    }

    pub(super) fn set_fact(&mut self, call: &Call, set: &SetFact) -> Result<Answer, Failure> {
        let (key, value) = (set.key.trim(), set.value.trim());
        if [key, value].iter().any(|text| text.contains(['\n', '\r'])) {
            return Err(words::invalid(call.index, "set_fact", "a fact is one line")
                .with_hint("use `append_to_section` or `update_file` for more"));
        }
        let read = self.text_to_edit(&set.path);
        if let Err(Failure { code: Code::NotFound, .. }) = &read {
            self.unmade.insert(set.path.clone());
        }
        let (path, now, text) = read?;
        let note = Note::parse(&text);
        let edit = note.set_fact(key, value).map_err(|unset| not_set(call, &set.path, key, unset))?;
        let after = edit.apply(&text);
        self.replace(call, &set.path, path, now, after)
    }
}

/// Says what makes the note that does not exist and of which a fact should have been set; `linking` are the notes to which
/// the batch has written a link to it.
pub(super) fn to_make(
    mut failure: Failure,
    set: &SetFact,
    nearest: Option<&MemoryPath>,
    linking: &BTreeSet<&MemoryPath>,
) -> Failure {
    let mut hint = nearest.map(|nearest| format!("the nearest is `{nearest}`; ")).unwrap_or_default();
    if !linking.is_empty() {
        let names: Vec<_> = linking.iter().take(MOST_NAMES).map(|path| format!("`{path}`")).collect();
        hint.push_str(&format!("{} now has a link to nothing; ", names.join(", ")));
    }
    let content = format!("# {}\n\n- {}: {}\n", set.path.stem(), set.key.trim(), set.value.trim());
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let (path, text) = (quoted(set.path.as_str()), quoted(&content));
    if path.len() + text.len() > MOST_HINT {
        hint.push_str("make it with `create_file` first");
    } else {
        hint.push_str(&format!(r#"to make it, send {{"action":"create_file","path":{path},"content":{text}}}"#));
    }
    failure.details.action = Some(Action::CreateFile(CreateFile { path: set.path.clone(), content }));
    failure.with_hint(hint)
}

/// The heading that a name means, by its place.
fn find(path: &MemoryPath, note: &Note<'_>, name: &str) -> Result<usize, Failure> {
    match note.heading(name) {
        Found::One(at) => Ok(at),
        Found::Nothing => Err(no_heading(path, note, name)),
        Found::Several(found) => {
            let lines: Vec<usize> = found
                .iter()
                .filter_map(|at| note.headings().get(*at))
                .map(|heading| note.line_at(heading.span.start))
                .collect();
            let name = shorten(name);
            let message = format!("heading `{name}` stands on lines {}", words::listed(&lines));
            let hint = match found.iter().find_map(|at| above(note, *at)) {
                Some(above) => format!("name the heading above it too, as in `{}#{name}`", shorten(above)),
                None => "use `update_file` or `insert_text` at the line that is meant".to_owned(),
            };
            Err(words::several_lines(Code::AmbiguousHeading, message, lines).with_hint(hint))
        }
    }
}

/// The heading under which another one stands.
fn above<'n>(note: &'n Note<'_>, at: usize) -> Option<&'n str> {
    let level = note.headings().get(at)?.level;
    let before = note.headings().get(..at)?;
    before.iter().rev().find(|heading| heading.level < level).map(|heading| heading.text.as_str())
}

/// The failure for a heading that a note does not have.
pub(super) fn no_heading(path: &MemoryPath, note: &Note<'_>, name: &str) -> Failure {
    let name = shorten(name);
    let message = format!("note `{}` has no heading `{name}`", words::shown(path));
    let failure = Failure::new(Code::HeadingNotFound, message);
    let texts = note.headings().iter().map(|heading| heading.text.as_str());
    match nearest(&name, texts.clone()) {
        Some(nearest) => failure.with_hint(format!("did you mean `{}`?", shorten(&nearest))),
        None if note.headings().is_empty() => failure.with_hint("it has no headings; use `append_file`"),
        None => {
            let some: Vec<_> = texts.take(MOST_NAMES).map(|text| format!("`{}`", shorten(text))).collect();
            failure.with_hint(format!("its headings are {}", some.join(", ")))
        }
    }
}

pub(super) fn not_set(call: &Call, path: &MemoryPath, key: &str, unset: Unset) -> Failure {
    let key = shorten(key);
    match unset {
        Unset::Several(lines) => {
            let message = format!("`{key}` is set on lines {} of `{}`", words::listed(&lines), words::shown(path));
            words::several_lines(Code::AmbiguousMatch, message, lines)
                .with_hint("use `update_file` with the whole line that is meant")
        }
        Unset::NotOneValue(line) => {
            let message = format!(
                "`{key}` on line {line} of `{}` is a list, takes several lines or holds other facts",
                words::shown(path)
            );
            Failure::new(Code::InvalidAction, message).with_hint("use `update_file` to change it")
        }
        Unset::Unread(lines) => {
            let (line, has) = if lines.len() == 1 { ("line", "has") } else { ("lines", "have") };
            let message = format!(
                "{line} {} of `{}` {has} `{key}` in a form that cannot be set",
                words::listed(&lines),
                words::shown(path)
            );
            words::several_lines(Code::AmbiguousMatch, message, lines)
                .with_hint("use `update_file` to change what stands there, or `insert_text` to add a line of its own")
        }
        Unset::Value(line) => {
            let place = line.map_or_else(String::new, |line| format!(" on line {line}"));
            let message = format!("`{key}`{place} of `{}` would not read back as this value", words::shown(path));
            Failure::new(Code::InvalidAction, message)
                .with_hint("send a `value` without marks of Markdown, or use `update_file`")
        }
        Unset::Key => {
            let message = format!("`{key}` cannot be the name of a fact");
            words::invalid(call.index, call.action.name(), &message).with_hint(key_rule(&key))
        }
    }
}

/// What the name of a fact may be, for somebody who has tried `key`.
fn key_rule(key: &str) -> String {
    let signs: Vec<String> = NO_KEY_SIGNS.iter().filter(|sign| !sign.is_control()).map(char::to_string).collect();
    let rule = format!(
        "it has a letter or a digit, at most {MOST_KEY_WORDS} words, none of {} in it, and no `: `, `. ` or `, `",
        signs.join(" ")
    );
    match mended_key(key) {
        Some(like) => format!("{rule}; `{like}` can be one"),
        None => rule,
    }
}

/// The note with other text under a heading. Blank lines around what stood there stay.
fn replaced(text: &str, note: &Note<'_>, at: usize, content: &str) -> String {
    let section = note.section(at);
    let old = filled(text, &section);
    let own = lines::own_end(text);
    let end = own.or_else(|| lines::own_end(content)).unwrap_or("\n");
    let mut new = lines::with_end(content, own);
    if !new.is_empty() && !new.ends_with(['\n', '\r']) {
        new.push_str(end);
    }
    if !new.is_empty() && old.end == section.end && is_underlined(text, section.end) {
        new.push_str(end);
    }
    // With nothing left to stand apart from the heading, the blank lines above it go.
    let start = if new.is_empty() { section.start } else { old.start };
    let mut before = text.get(..start).unwrap_or_default().to_owned();
    if !before.ends_with(['\n', '\r']) && !new.is_empty() {
        before.push_str(end);
    }
    format!("{before}{new}{}", text.get(old.end..).unwrap_or_default())
}

/// A range without the blank lines at its start and its end; empty at its start where it has no others.
fn filled(text: &str, range: &Range<usize>) -> Range<usize> {
    let source = text.get(range.clone()).unwrap_or_default();
    let mut at = range.start;
    let mut found: Option<Range<usize>> = None;
    for line in source.split_inclusive('\n') {
        let end = at + line.len();
        if !line.trim().is_empty() {
            found = Some(found.map_or(at, |found| found.start)..end);
        }
        at = end;
    }
    found.unwrap_or(range.start..range.start)
}

/// Whether a heading that is underlined starts at a place: a text right above would become part of it.
fn is_underlined(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('#'))
}
