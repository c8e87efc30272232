//! Edits of one whole line, as small models make them: the line has to be there word for word.
//!
//! Owns which line is meant. Such a model often names the wrong note: where its line is in exactly one other note that it
//! may be told of, that note is used, and an issue says so. Bytes outside of the line stay as they are.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use crate::step::Image;
use crate::tree::Tree;
use crate::{Answer, Planner, closest, lines, needle, words};
use memdir_core::action::{Action, Call, UpdateFile};
use memdir_core::catalog::shorten;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};

/// A note, and which of its lines are meant.
struct Place {
    /// The note as it is named.
    asked: MemoryPath,
    path: MemoryPath,
    image: Image,
    text: String,
    found: Vec<Line>,
}

/// One line of a text without its line end.
struct Line {
    number: usize,
    range: Range<usize>,
}

impl<T: Tree> Planner<'_, T> {
    /// Puts another line in the place of one, or takes it out with its line end where nothing comes in its place.
    pub(super) fn update_line(&mut self, call: &Call, update: &UpdateFile) -> Result<Answer, Failure> {
        let old = update.old_content.as_str();
        let (mut place, missing) = match self.place(&update.path, old) {
            Ok(place) => (Some(place), None),
            Err(failure) if failure.code == Code::NotFound => (None, Some(failure)),
            Err(failure) => return Err(failure),
        };
        if place.as_ref().is_none_or(|place| place.found.is_empty())
            && let Some(other) = self.other_place(call, &update.path, old)?
        {
            let message = format!(
                "the line is not in `{}`, and in no other note but `{}`, so it was changed there",
                words::shown(&update.path),
                words::shown(&other)
            );
            place = Some(self.place(&other, old)?);
            self.issue("other_note", call.index, message);
        }
        let Some(place) = place else { return Err(missing.unwrap_or_else(|| words::not_found("note", &update.path))) };
        let line = match place.found.as_slice() {
            [line] => line,
            [] => return Err(not_found(&place, update)),
            several => return Err(ambiguous(&place, several)),
        };
        let found = place.text.get(line.range.clone()).unwrap_or_default();
        if found != old {
            let differs = needle::difference(old, found);
            self.issue("loose_match", call.index, format!("the line matched line {} but for {differs}", line.number));
        }
        let text = replaced(&place.text, line.range.clone(), &update.new_content);
        let answer = self.replace(call, &place.asked, place.path, place.image, text)?;
        Ok(Answer { path: Some(place.asked), ..answer })
    }

    /// The note to which a call comes that means a whole line, where it is not the one that it names.
    pub(super) fn place_of_line(&mut self, call: &Call) -> Option<MemoryPath> {
        let Action::UpdateFile(update) = &call.action else { return None };
        let is_there = |place: Place| !place.found.is_empty();
        if self.place(&update.path, &update.old_content).is_ok_and(is_there) {
            return None;
        }
        // What is noticed on the way is said when the call is planned.
        let said = self.issues.len();
        let other = self.other_place(call, &update.path, &update.old_content).ok().flatten();
        self.issues.truncate(said);
        other
    }

    fn place(&self, asked: &MemoryPath, old: &str) -> Result<Place, Failure> {
        let (path, image, text) = self.text_to_edit(asked)?;
        let found = find(&text, old);
        Ok(Place { asked: asked.clone(), path, image, text, found })
    }

    /// The one other note that has the line and that the call may be told of.
    fn other_place(&mut self, call: &Call, asked: &MemoryPath, old: &str) -> Result<Option<MemoryPath>, Failure> {
        let asked = self.resolve(asked)?;
        let everywhere = self.scope(None)?;
        let has_line = self.look(call, &everywhere, &|_, text| !find(text, old).is_empty())?;
        let mut others = has_line.into_iter().filter(|(path, has)| *has && *path != asked).map(|(path, _)| path);
        Ok(others.next().filter(|_| others.next().is_none()))
    }
}

/// The lines that are `wanted`; where none is, those that differ in trailing blanks or in the form of characters.
fn find(text: &str, wanted: &str) -> Vec<Line> {
    let all = || contents(text).enumerate().map(|(at, range)| Line { number: at + 1, range });
    let line = |line: &Line| text.get(line.range.clone()).unwrap_or_default();
    let exact: Vec<Line> = all().filter(|found| line(found) == wanted).collect();
    if !exact.is_empty() {
        return exact;
    }
    let wanted = wanted.trim_end_matches([' ', '\t']);
    let is_ascii = wanted.is_ascii();
    let is_alike = |found: &str| {
        let found = found.trim_end_matches([' ', '\t']);
        found == wanted || !(is_ascii && found.is_ascii()) && found.nfc().eq(wanted.nfc())
    };
    all().filter(|found| is_alike(line(found))).collect()
}

/// The lines of a text without their ends and without a byte order mark.
fn contents(text: &str) -> impl Iterator<Item = Range<usize>> {
    lines::ranges(text).into_iter().map(|Range { mut start, mut end }| {
        let line = text.get(start..end).unwrap_or_default();
        if start == 0 && line.starts_with(lines::BOM) {
            start += lines::BOM.len_utf8();
        }
        if let Some(line) = line.strip_suffix('\n') {
            end -= if line.ends_with('\r') { 2 } else { 1 };
        }
        start..end.max(start)
    })
}

/// The text with `new` in the place of a line; without the line and its end where `new` is empty.
fn replaced(text: &str, line: Range<usize>, new: &str) -> String {
    let (before, after) = (text.get(..line.start).unwrap_or_default(), text.get(line.end..).unwrap_or_default());
    let rest = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n'));
    let after = rest.filter(|_| new.is_empty()).unwrap_or(after);
    [before, &lines::with_end(new, lines::own_end(text)), after].concat()
}

fn ambiguous(place: &Place, several: &[Line]) -> Failure {
    let numbers: Vec<usize> = several.iter().map(|line| line.number).collect();
    let message = format!("the line stands in `{}` on lines {}", words::shown(&place.asked), words::listed(&numbers));
    words::several_lines(Code::AmbiguousMatch, message, numbers)
        .with_hint("lines that are the same cannot be told apart; send `update_file` with a line of context")
}

fn not_found(place: &Place, update: &UpdateFile) -> Failure {
    let UpdateFile { old_content: old, new_content: new, .. } = update;
    let message = format!("no line of `{}` is `{}`", words::shown(&place.asked), shorten(old));
    let key = if new.is_empty() { "line" } else { "old" };
    let closest = closest::find(&place.text, old, new).closest;
    let there = if new.is_empty() { Vec::new() } else { find(&place.text, new) };
    let near = closest.as_ref().and_then(|closest| contents(&place.text).nth(closest.lines[0].checked_sub(1)?));
    let hint = match (there.first(), near) {
        (Some(line), _) => format!("`new` is already there, on line {}", line.number),
        (None, Some(line)) => {
            let number = lines::number_at(&place.text, line.start);
            let line = place.text.get(line).unwrap_or_default();
            let again = if line == shorten(line) { serde_json::Value::from(line).to_string() } else { String::new() };
            if again.is_empty() {
                format!("the closest is line {number}; send all of it as `{key}`")
            } else {
                format!("the closest is line {number}; send `\"{key}\":{again}`")
            }
        }
        (None, None) => "nothing in it is close; read the note again".to_owned(),
    };
    let mut failure = Failure::new(Code::ContentNotFound, message).with_hint(hint);
    failure.details.closest = closest;
    failure.details.digest = Some(place.image.content.digest());
    failure
}
