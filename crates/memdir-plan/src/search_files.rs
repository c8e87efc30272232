//! `search_files`: which notes hold or answer a query.
//!
//! A scan keeps of each note only the number by which it is ordered; the notes of the page that is answered are read
//! once more for what is shown of them. Questions are in `ranked.rs`, operators in `query.rs`.

use std::ops::Range;

use crate::current::PastShown;
use crate::excerpt::Excerpt;
use crate::overlay::Trouble;
use crate::pattern::Pattern;
use crate::query::{Fitting, Operators, Query};
use crate::tree::{Scan, Scanned, Tree, TreeError};
use crate::view::seen;
use crate::wanted::{Wanted, without_extension};
use crate::{Answer, Planner, words};
use memdir_core::action::{Call, SearchFiles, SearchMode};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, FactState, Failure, Hit, Kind, Search, Source, Value, Why};
use memdir_note::stem::Languages;
use memdir_note::{Note, words as note_words};
use memdir_rank::{Found, Question, best_first};

/// How many notes are given unless asked for another number, and how many at most.
const LIMIT: usize = 20;
const MAX_LIMIT: usize = 1000;
/// The longest query, in bytes.
const MAX_QUERY: usize = 16 << 10;
/// How many notes with a name like the query are given where none has it.
const NEAREST: usize = 3;

/// Where to look.
pub(super) struct Scope {
    /// The place that was asked for; `None` is the whole memory.
    asked: Option<MemoryPath>,
    /// Where it is, with links followed.
    pub(super) path: Option<MemoryPath>,
    kind: Kind,
}

/// How to look.
enum Way {
    Lines(Pattern),
    Words(Question),
    Name(String),
    /// By operators alone: the notes or the tasks that fit them.
    Fitting,
}

/// How the notes that were found show what was found in them.
pub(super) enum Shows {
    Lines(Pattern),
    /// The words of the question, and how much finding each of them says.
    Words(Wanted, Vec<f64>),
    Opening,
}

/// How well a note answers, and where it is; the line where that alone is the answer, else 0.
type Place = (f64, MemoryPath, usize);

/// A note, how well it answers, and by what.
pub(super) struct Scored {
    pub(super) score: f64,
    pub(super) path: MemoryPath,
    pub(super) why: Vec<Why>,
    /// The line that alone is the answer; 0 where the note is.
    pub(super) line: usize,
}

impl Scored {
    /// A note that ranking has found.
    pub(super) fn of(found: &Found, path: MemoryPath) -> Self {
        Self { score: found.score, path, why: found.why.clone(), line: 0 }
    }
}

/// The part of an answer that a call asked for: not more than `limit` notes after the last one that was given before.
pub(super) struct Part<'a> {
    pub(super) after: Option<&'a Cursor>,
    pub(super) limit: usize,
    pub(super) past: PastShown,
}

/// The notes of a part, the best first.
pub(super) struct Picked {
    pub(super) notes: Vec<Scored>,
    /// How many were found in all, and how many come after these.
    pub(super) total: usize,
    pub(super) more: usize,
    pub(super) shows: Shows,
    pub(super) searched_for: Option<String>,
    /// The words of which nothing is known, where that is what there is to say.
    pub(super) unknown: Option<Vec<String>>,
    pub(super) source: Source,
}

/// Where the places are in a text that was found with a query: what a program marks in it.
#[must_use]
pub fn marks(mode: SearchMode, query: &str, text: &str) -> Vec<Range<usize>> {
    match Way::of(mode, query) {
        Ok((Way::Lines(pattern), _)) => pattern.marks(text),
        Ok((Way::Words(question), _)) => Wanted::of(question.words()).marks(text),
        Ok((Way::Name(_) | Way::Fitting, _)) | Err(_) => Vec::new(),
    }
}

impl Way {
    fn of(mode: SearchMode, query: &str) -> Result<(Self, Operators), Failure> {
        let Query { text, operators } = match mode {
            SearchMode::Ranked => Query::parse(query)?,
            SearchMode::Text | SearchMode::Regex | SearchMode::Name => Query::plain(query),
        };
        let way = match mode {
            SearchMode::Text => Self::Lines(Pattern::text(&text)?),
            SearchMode::Regex => Self::Lines(Pattern::regex(&text)?),
            SearchMode::Name => Self::Name(note_words::fold(text.trim())),
            SearchMode::Ranked if text.is_empty() && !operators.is_empty() => Self::Fitting,
            SearchMode::Ranked => match Question::of(&text) {
                Some(question) => Self::Words(question),
                // Nothing in it is a word; it may still stand somewhere.
                None => Self::Lines(Pattern::text(&text)?),
            },
        };
        Ok((way, operators))
    }
}

impl<T: Tree> Planner<'_, T> {
    pub(super) fn search_files(&mut self, call: &Call, search: &SearchFiles) -> Result<Answer, Failure> {
        let invalid = |message| words::invalid(call.index, "search_files", message);
        if search.query.trim_matches(['\r', '\n']).is_empty() {
            return Err(invalid("`query` is empty").with_hint("send what to look for"));
        }
        if search.query.len() > MAX_QUERY {
            let failure = words::too_large("the query", search.query.len(), MAX_QUERY as u64);
            return Err(failure.with_hint("send the words that say most"));
        }
        let after = match search.cursor.as_deref().map(|cursor| Cursor::read(cursor, search)) {
            Some(None) => {
                return Err(invalid("`cursor` is none that an answer to this query gave")
                    .with_hint("leave `cursor` out to start with the best"));
            }
            cursor => cursor.flatten(),
        };
        let (way, operators) = Way::of(search.mode.unwrap_or_default(), &search.query)?;
        let scope = self.scope(search.path.as_ref())?;
        let limit = search.limit.map_or(LIMIT, |limit| limit as usize).min(MAX_LIMIT);
        let past = PastShown::of(search.include_past);
        let part = Part { after: after.as_ref(), limit, past };
        let picked = match way {
            Way::Lines(pattern) => {
                let mut found = self.by_lines(call, &scope, &pattern, past)?;
                found.retain(|(_, path, _)| operators.is_empty() || self.fits(&operators, &scope.placed(path)));
                part.pick(found, Shows::Lines(pattern))
            }
            Way::Words(question) => self.by_words(call, &scope, &question, &operators, &part)?,
            Way::Name(name) => part.pick(self.by_name(call, &scope, &name, (&search.query, past))?, Shows::Opening),
            Way::Fitting => part.pick(self.by_operators(call, &scope, &operators, past)?, Shows::Opening),
        };
        let page = self.page(&scope, &picked, &operators, (search.budget, past))?;
        let rest = picked.notes.len() - page.given;
        let last = picked.notes.get(page.given.wrapping_sub(1)).filter(|_| rest + picked.more > 0);
        Ok(Value::Search(Search {
            query: search.query.clone(),
            hits: page.hits,
            total: picked.total,
            cursor: last.map(|last| Cursor::write(last, search)),
            left_out: rest,
            nothing_known: picked.unknown.is_some(),
            missing: picked.unknown.unwrap_or_default(),
            searched_for: picked.searched_for.map(|text| operators.with(&text)),
            source: picked.source,
        })
        .into())
    }

    pub(super) fn scope(&self, asked: Option<&MemoryPath>) -> Result<Scope, Failure> {
        let Some(asked) = asked else { return Ok(Scope { asked: None, path: None, kind: Kind::Directory }) };
        let path = self.resolve(asked)?;
        let noun = if asked.is_note() { "note" } else { "folder" };
        let kind = self.expect(asked, &path, noun)?.kind;
        if kind == Kind::File && !asked.is_note() {
            let message = format!("`{}` is no note", words::shown(asked));
            return Err(
                Failure::new(Code::UnsupportedFile, message).with_hint("search in a folder, or in a note (`.md`)")
            );
        }
        Ok(Scope { asked: Some(asked.clone()), path: Some(path), kind })
    }

    fn by_lines(
        &mut self,
        call: &Call,
        scope: &Scope,
        pattern: &Pattern,
        past: PastShown,
    ) -> Result<Vec<Place>, Failure> {
        let (stop, view, is_left_out) = (self.manner.stop, self.manner.view, self.is_left_out(past));
        let counts = self.look(call, scope, &|path, text| {
            let count = seen(view, path, text).map_or(0, |text| pattern.count(&text, stop));
            if count > 0 && is_left_out(text) { 0 } else { count }
        })?;
        let scored = counts.into_iter().filter(|(_, count)| *count > 0);
        Ok(scored.map(|(path, count)| (f64::from(u32::try_from(count).unwrap_or(u32::MAX)), path, 0)).collect())
    }

    /// The notes that fit operators, or their tasks where these are asked for; the latest first.
    fn by_operators(
        &mut self,
        call: &Call,
        scope: &Scope,
        operators: &Operators,
        past: PastShown,
    ) -> Result<Vec<Place>, Failure> {
        let (view, is_left_out) = (self.manner.view, self.is_left_out(past));
        let looked = self.look(call, scope, &|path, text| {
            let fitting = operators.fitting(path, &seen(view, path, text)?)?;
            (!is_left_out(text)).then_some(fitting)
        })?;
        let mut found = Vec::new();
        for (path, fitting) in looked {
            let Some(fitting) = fitting else { continue };
            let moment = self.moment(&scope.placed(&path), &fitting);
            if !operators.is_since(moment, self.overlay.now()) {
                continue;
            }
            #[expect(clippy::cast_precision_loss, reason = "seconds of some thousand years are exact")]
            let score = moment as f64;
            if operators.want_tasks() {
                found.extend(fitting.tasks.iter().map(|line| (score, path.clone(), *line)));
            } else {
                found.push((score, path, 0));
            }
        }
        Ok(found)
    }

    /// Whether the note at a path that is resolved fits the operators of a query.
    pub(super) fn fits(&self, operators: &Operators, path: &MemoryPath) -> bool {
        let fitting = self.seen_text(path).and_then(|text| operators.fitting(path, &text));
        fitting.is_some_and(|fitting| operators.is_since(self.moment(path, &fitting), self.overlay.now()))
    }

    /// Of when a note is, in seconds since 1970: the latest date that it states, else when it was last modified.
    fn moment(&self, path: &MemoryPath, fitting: &Fitting) -> i64 {
        let modified = || self.overlay.stat(path).ok().flatten().map_or(0, |stat| stat.modified.0);
        fitting.stated.unwrap_or_else(modified)
    }

    fn by_name(
        &self,
        call: &Call,
        scope: &Scope,
        name: &str,
        (query, past): (&str, PastShown),
    ) -> Result<Vec<Place>, Failure> {
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let score = |path: &MemoryPath| {
            let (own_stem, own_path) = (note_words::fold(path.stem()), note_words::fold(path.as_str()));
            let own_short = note_words::fold(without_extension(path));
            Some(match () {
                () if own_stem == stem || own_short == stem => 1.0,
                () if own_stem.starts_with(stem) => 0.75,
                () if own_stem.contains(stem) => 0.5,
                () if own_path.contains(name) => 0.25,
                () => return None,
            })
        };
        let notes = self.names(call, scope)?;
        let is_left_out = self.is_left_out(past);
        let is_past = |path: &MemoryPath| self.text_of(&scope.placed(path)).is_some_and(|text| is_left_out(&text));
        let found = notes.iter().filter_map(|path| Some((score(path)?, path.clone(), 0)));
        let found: Vec<Place> = found.filter(|(_, path, _)| past == PastShown::Marked || !is_past(path)).collect();
        let Some(wanted) = MemoryPath::parse(query).ok().filter(|_| found.is_empty()) else { return Ok(found) };
        let likeness = words::likeness(&wanted);
        let mut nearest: Vec<Place> =
            notes.iter().filter_map(|path| Some((likeness(path)? / 10.0, path.clone(), 0))).collect();
        nearest.sort_unstable_by(|one, other| best_first(key(one), key(other)));
        let shown = nearest.into_iter().filter(|(_, path, _)| past == PastShown::Marked || !is_past(path));
        Ok(shown.take(NEAREST).collect())
    }

    /// The names of all notes that may be shown.
    fn names(&self, call: &Call, scope: &Scope) -> Result<Vec<MemoryPath>, Failure> {
        if scope.kind == Kind::File {
            let path = scope.path.iter().filter(|path| self.is_named(path, Kind::File));
            return Ok(path.map(|path| scope.named(path)).collect());
        }
        let files = self.files(scope, &|_| false, &|_, _| ())?;
        let notes = files.into_iter().map(|file| file.path).filter(|path| path.is_note());
        let named = notes.filter(|path| self.manner.may_show(call, scope, path) && self.is_named(path, Kind::File));
        Ok(named.map(|path| scope.named(&path)).collect())
    }

    /// Looks into every note that may be shown and can be read, and says how many cannot.
    pub(super) fn look<R: Send>(
        &mut self,
        call: &Call,
        scope: &Scope,
        look: &(dyn Fn(&MemoryPath, &str) -> R + Sync),
    ) -> Result<Vec<(MemoryPath, R)>, Failure> {
        let manner = self.manner;
        let wants =
            |path: &MemoryPath| (scope.kind == Kind::File || path.is_note()) && manner.may_show(call, scope, path);
        let files = self.files(scope, &wants, &|path, bytes| {
            let text = bytes.ok().and_then(|bytes| std::str::from_utf8(bytes).ok());
            text.map(|text| look(path, text))
        })?;
        let mut skipped = 0;
        let mut looked = Vec::with_capacity(files.len());
        for file in files {
            match file.seen {
                // A note is found once: under its own name, where that is looked at too.
                Some(_) if file.is_link && self.is_elsewhere(scope, &file.path) => {}
                Some(Some(seen)) => looked.push((scope.named(&file.path), seen)),
                Some(None) => skipped += 1,
                None => {}
            }
        }
        self.tell_skipped(call, scope, skipped);
        Ok(looked)
    }

    /// Says which folders below one could not be looked into, as far as they may be told of.
    pub(super) fn tell_closed(&mut self, call: &Call, below: Option<&MemoryPath>, what: &str, was: &str) {
        let mut closed = if call.action.as_of().is_none() { self.overlay.tree().closed_folders() } else { Vec::new() };
        closed
            .retain(|folder| (self.manner.may_show)(call, folder) && below.is_none_or(|below| folder.is_within(below)));
        let Some(first) = closed.first() else { return };
        let more = closed.len() - 1;
        let more = if more > 0 { format!(" and {}", words::count(more, "other folder")) } else { String::new() };
        self.issue(
            "notes_skipped",
            call.index,
            format!("{what} folder `{first}`{more} {was}: no permission to list it"),
        );
    }

    /// Says how many notes could not be searched, and which folders.
    pub(super) fn tell_skipped(&mut self, call: &Call, scope: &Scope, skipped: usize) {
        self.tell_closed(call, scope.path.as_ref(), "what is in", "could not be searched");
        if skipped > 0 {
            let notes = words::count(skipped, "note");
            let why = match call.action.as_of() {
                Some(_) => "what was there then is no longer kept, or was no UTF-8 text, or too large",
                None => "no UTF-8 text, too large, or not readable",
            };
            let message = format!("{notes} could not be searched: {why}");
            self.issue("notes_skipped", call.index, message);
        }
    }

    /// The files of a scope; what is wanted of them is looked into.
    fn files<R: Send>(
        &self,
        scope: &Scope,
        wants: &(dyn Fn(&MemoryPath) -> bool + Sync),
        look: &(impl Fn(&MemoryPath, Result<&[u8], TreeError>) -> R + Sync),
    ) -> Result<Vec<Scanned<R>>, Failure> {
        let limit = self.limits.file_bytes;
        let Some(path) = scope.path.as_ref().filter(|_| scope.kind == Kind::File) else {
            let scan = Scan { folder: scope.path.as_ref(), limit, wants, stop: self.manner.stop };
            return Ok(self.overlay.scan(&scan, look)?);
        };
        let seen = wants(path).then(|| match self.overlay.read(path, limit) {
            Ok(image) => look(path, Ok(image.content.bytes())),
            Err(Trouble::Tree(error)) => look(path, Err(error)),
            Err(Trouble::Mixed(other)) => look(path, Err(TreeError::Unsupported(other))),
        });
        Ok(vec![Scanned { path: path.clone(), is_link: false, seen }])
    }

    /// Whether a link leads to a note that is found under its own name.
    fn is_elsewhere(&self, scope: &Scope, link: &MemoryPath) -> bool {
        let target = self.overlay.resolve(link).ok().filter(MemoryPath::is_note);
        target.is_some_and(|target| scope.path.as_ref().is_none_or(|folder| target.is_within(folder)))
    }

    /// Reads the notes of a page again for what is shown of them, as many as the budget has room for.
    fn page(
        &self,
        scope: &Scope,
        picked: &Picked,
        operators: &Operators,
        (budget, past): (Option<u32>, PastShown),
    ) -> Result<Page, Failure> {
        let mut room = budget.map_or(usize::MAX, |tokens| (tokens as usize).saturating_mul(4));
        let mut page = Page { hits: Vec::new(), given: 0 };
        for scored in &picked.notes {
            let Scored { score, path, why, .. } = scored;
            if (self.manner.stop)() {
                return Err(words::failure(TreeError::Stopped));
            }
            let excerpt = self.excerpt(scope, scored, (&picked.shows, past), operators);
            let Some((excerpt, state)) = excerpt else {
                // An editor came in between: it is not what was found any more.
                page.given += 1;
                continue;
            };
            let heading = excerpt.heading.as_ref().map_or(0, String::len);
            let bytes = (path.as_str().len() + heading + excerpt.snippet.len()).next_multiple_of(4);
            if bytes > room && !page.hits.is_empty() {
                break;
            }
            room = room.saturating_sub(bytes);
            page.given += 1;
            page.hits.push(Hit {
                path: path.clone(),
                heading: excerpt.heading,
                lines: excerpt.lines,
                snippet: excerpt.snippet,
                score: Some(*score).filter(|_| !self.overlay.tree().is_part()),
                why: why.clone(),
                state,
            });
        }
        Ok(page)
    }

    /// What is shown of a note, and why all of it belongs to the past, where it does.
    fn excerpt(
        &self,
        scope: &Scope,
        scored: &Scored,
        (shows, past): (&Shows, PastShown),
        operators: &Operators,
    ) -> Option<(Excerpt, Option<FactState>)> {
        let path = self.overlay.resolve(&scope.placed(&scored.path)).ok()?;
        let image = self.overlay.read(&path, self.limits.file_bytes).ok();
        let text = image.as_ref().and_then(|image| image.content.text());
        // A name is found whatever the note holds.
        let is_named = matches!(shows, Shows::Opening) && scored.line == 0;
        let text = if is_named { text.unwrap_or_default() } else { text? };
        let state = self.past_state(text);
        // Who looks for a text as it stands gets the line as it stands.
        let text = match shows {
            Shows::Lines(_) if past == PastShown::No && state.is_some() => None,
            Shows::Lines(_) => seen(self.manner.view, &path, text),
            Shows::Words(..) | Shows::Opening => self.shown_of(&path, text, past),
        };
        let text = text?;
        let note = Note::parse(&text);
        let excerpt = match shows {
            Shows::Opening if is_named => Some(Excerpt::opening(&note)),
            Shows::Opening => {
                let is_there = operators.task_lines(&note).contains(&scored.line);
                is_there.then(|| Excerpt::of(&note, [scored.line; 2], None))
            }
            Shows::Lines(pattern) => {
                let place = pattern.first(note.text())?;
                Some(Excerpt::of(&note, place.lines, Some(place.at)))
            }
            Shows::Words(wanted, weights) => {
                let tasks = operators.task_lines(&note);
                Some(wanted.excerpt(&note, Languages::of(note.text()), weights, &tasks))
            }
        };
        excerpt.map(|excerpt| (excerpt, state))
    }
}

/// Some hits, and how many of the notes that were found they stand for.
struct Page {
    hits: Vec<Hit>,
    given: usize,
}

fn key(found: &Place) -> (f64, (&MemoryPath, usize)) {
    (found.0, (&found.1, found.2))
}

impl Part<'_> {
    /// Picks the notes of this part out of all that a scan found.
    fn pick(&self, mut found: Vec<Place>, shows: Shows) -> Picked {
        let total = found.len();
        if let Some(after) = self.after {
            found.retain(|found| best_first(key(found), (after.score, (&after.path, after.line))).is_gt());
        }
        let more = found.len().saturating_sub(self.limit);
        if more > 0 {
            found.select_nth_unstable_by(self.limit, |one, other| best_first(key(one), key(other)));
            found.truncate(self.limit);
        }
        found.sort_unstable_by(|one, other| best_first(key(one), key(other)));
        let scored = |(score, path, line)| Scored { score, path, why: vec![Why::Text], line };
        let notes = found.into_iter().map(scored).collect();
        Picked { notes, total, more, shows, searched_for: None, unknown: None, source: Source::Scan }
    }
}

impl Scope {
    /// The name of a note for the one who asked, where what they named is a link.
    pub(super) fn named(&self, path: &MemoryPath) -> MemoryPath {
        let (Some(from), Some(to)) = (&self.path, &self.asked) else { return path.clone() };
        if from == to { path.clone() } else { path.rebased(from, to).unwrap_or_else(|| path.clone()) }
    }

    /// The note that has a name of [`Scope::named`].
    pub(super) fn placed(&self, path: &MemoryPath) -> MemoryPath {
        let (Some(to), Some(from)) = (&self.path, &self.asked) else { return path.clone() };
        path.rebased(from, to).unwrap_or_else(|| path.clone())
    }
}

impl super::Manner<'_> {
    /// Whether an answer may tell of a note, by its place and by the name it is asked for.
    fn may_show(&self, call: &Call, scope: &Scope, path: &MemoryPath) -> bool {
        let named = scope.named(path);
        (self.may_show)(call, path) && (named == *path || (self.may_show)(call, &named))
    }
}

/// Where a page ends: what was given last.
pub(super) struct Cursor {
    pub(super) score: f64,
    pub(super) path: MemoryPath,
    line: usize,
}

impl Cursor {
    fn write(Scored { score, path, line, .. }: &Scored, search: &SearchFiles) -> String {
        format!("{}{:016x}{line:08x}{path}", Self::check(search), score.to_bits())
    }

    /// Reads a cursor of the same search.
    fn read(cursor: &str, search: &SearchFiles) -> Option<Self> {
        let (score, rest) = cursor.strip_prefix(&Self::check(search))?.split_at_checked(16)?;
        let score = f64::from_bits(u64::from_str_radix(score, 16).ok()?);
        let (line, path) = rest.split_at_checked(8)?;
        let line = usize::from_str_radix(line, 16).ok()?;
        let path = MemoryPath::parse(path).ok().filter(|parsed| parsed.as_str() == path)?;
        score.is_finite().then_some(Self { score, path, line })
    }

    /// Eight digits that tell one search from another.
    fn check(search: &SearchFiles) -> String {
        let mode = format!("{:?}", search.mode.unwrap_or_default());
        let path = search.path.as_ref().map_or("", MemoryPath::as_str);
        let past: &[u8] = if search.include_past == Some(true) { b"past" } else { b"" };
        let digest = Digest::of_parts(&[mode.as_bytes(), search.query.as_bytes(), path.as_bytes(), past]);
        digest.as_bytes().iter().take(4).map(|byte| format!("{byte:02x}")).collect()
    }
}
