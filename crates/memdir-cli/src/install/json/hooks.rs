//! Hooks: commands that a program runs at moments of a session, in lists by the names of the moments.
//!
//! A hook is ours if its command line is one of `memdir hook`, wherever memdir is; nothing else marks it.

use std::ops::Range;

use jsonc_parser::ast::{Object, Value};

use super::super::Entry;
use super::super::edit::{Edit, Trouble, edited, is_memdir, quoted};
use super::{Container, Document, Shape, only, push, put, span, without_empty};
use memdir_core::shell;

/// The object that holds the lists.
const HOOKS: &str = "hooks";
/// Under which name a hook says what is run.
const COMMAND: &str = "command";
/// The command of memdir that a hook runs.
const VERB: &str = "hook";

/// How a program writes hooks.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct HookForm {
    /// What the file has to say beside its hooks.
    pub(in super::super) head: &'static [(&'static str, &'static str)],
    /// Whether each hook stands in the list `hooks` of a group.
    pub(in super::super) is_grouped: bool,
    /// What stands before the command line: names, and values as JSON.
    pub(in super::super) before: &'static [(&'static str, &'static str)],
    /// What stands behind it.
    pub(in super::super) after: &'static [(&'static str, &'static str)],
    /// The moments, as the program names them.
    pub(in super::super) events: &'static [&'static str],
}

/// One hook of ours as it stands in a text.
#[derive(Debug)]
struct OwnHook {
    event: String,
    /// What it starts: `args` are `hook`, the program, and what comes behind the moment.
    entry: Entry,
    /// Its command line, and where that stands.
    line: (Range<usize>, String),
    /// The edits that take it out.
    cut: Vec<Edit>,
}

impl HookForm {
    /// What our hooks start, if there are any, and whether they are as `install` puts them in.
    pub(in super::super) fn find(&self, text: &str) -> Result<Option<(Entry, bool)>, Trouble> {
        let document = Document::read(text)?;
        let own = self.own(&document)?;
        let Some(entry) = own.first().map(|first| first.entry.clone()) else { return Ok(None) };
        let is_as_put = |hook: &OwnHook| hook.line.1 == Self::line(&entry, &hook.event);
        let has = |event: &&str| own.iter().filter(|hook| hook.event == **event).count() == 1;
        let is_whole = own.iter().all(is_as_put) && self.events.iter().all(has) && self.lacks(&document)?.is_empty();
        Ok(Some((entry, is_whole)))
    }

    /// Puts our hooks in, or brings those that are there up to date.
    pub(in super::super) fn set(&self, text: &str, entry: &Entry) -> Result<String, Trouble> {
        let mut text = text.to_owned();
        while let Some(cut) = self.surplus(&text)? {
            text = edited(&text, cut);
        }
        let document = Document::read(&text)?;
        let own = self.own(&document)?;
        let missing: Vec<_> =
            self.events.iter().filter(|event| !own.iter().any(|hook| hook.event == **event)).collect();
        let line = |hook: &OwnHook| (hook.line.0.clone(), quoted(&Self::line(entry, &hook.event)));
        let edits = own.iter().map(line).collect();
        let lacks = self.lacks(&document)?;
        text = edited(&text, edits);
        for (name, value) in lacks {
            text = put(&text, &[name], Shape::Line(value.to_owned()))?;
        }
        for event in missing {
            text = push(&text, &[HOOKS, event], self.shape(entry, event))?;
        }
        Ok(text)
    }

    /// Takes all our hooks out.
    pub(in super::super) fn cut(&self, text: &str) -> Result<String, Trouble> {
        let mut text = text.to_owned();
        while let Some(hook) = self.own(&Document::read(&text)?)?.pop() {
            text = edited(&text, hook.cut);
        }
        Ok(text)
    }

    /// What may have stood there before our hooks, which are cut out of `text` already.
    pub(in super::super) fn bare(&self, text: &str) -> Result<Vec<String>, Trouble> {
        let mut without = text.to_owned();
        for event in self.events.iter().rev() {
            without = without_empty(&without, &[HOOKS, event])?;
        }
        without = without_empty(&without, &[HOOKS])?;
        let mut headless = without.clone();
        for (name, _) in self.head {
            let document = Document::read(&headless)?;
            let Some(root) = document.root()? else { break };
            let Some((at, _)) = only(root, name)? else { continue };
            headless = edited(&headless, document.cut(&Container::of_object(root), at));
        }
        Ok(vec![without, headless, text.to_owned()])
    }

    /// What the file has to say and does not.
    fn lacks(&self, document: &Document<'_>) -> Result<Vec<(&'static str, &'static str)>, Trouble> {
        let mut lacks = Vec::new();
        for (name, value) in self.head {
            if document.value(&[name])?.is_none() {
                lacks.push((*name, *value));
            }
        }
        Ok(lacks)
    }

    /// The edits that take out one of our hooks that is too much: a second one, or one at another moment.
    fn surplus(&self, text: &str) -> Result<Option<Vec<Edit>>, Trouble> {
        let own = self.own(&Document::read(text)?)?;
        let is_known = |hook: &OwnHook| self.events.iter().any(|event| hook.event == *event);
        let is_too_much = |at: usize, hook: &OwnHook| {
            !is_known(hook) || own.iter().take(at).any(|earlier| earlier.event == hook.event)
        };
        let at = own.iter().enumerate().position(|(at, hook)| is_too_much(at, hook));
        Ok(at.and_then(|at| own.into_iter().nth(at)).map(|hook| hook.cut))
    }

    fn own(&self, document: &Document<'_>) -> Result<Vec<OwnHook>, Trouble> {
        let Some(lists) = document.object(&[HOOKS])? else { return Ok(Vec::new()) };
        let mut own = Vec::new();
        for property in &lists.properties {
            let Value::Array(list) = &property.value else { continue };
            let event = property.name.as_str();
            let container = Container::of_list(list);
            for (at, element) in list.elements.iter().enumerate() {
                let Value::Object(object) = element else { continue };
                let group = if self.is_grouped { only(object, HOOKS)?.map(|(_, group)| &group.value) } else { None };
                let Some(Value::Array(group)) = group else {
                    own.extend(self.read(event, object, document.cut(&container, at))?);
                    continue;
                };
                for (inner, hook) in group.elements.iter().enumerate() {
                    let Value::Object(hook) = hook else { continue };
                    // A group that holds nothing else goes with its hook.
                    let cut = match group.elements.len() {
                        1 => document.cut(&container, at),
                        _ => document.cut(&Container::of_list(group), inner),
                    };
                    own.extend(self.read(event, hook, cut)?);
                }
            }
        }
        Ok(own)
    }

    /// Reads a hook, if it is ours.
    fn read(&self, event: &str, hook: &Object<'_>, cut: Vec<Edit>) -> Result<Option<OwnHook>, Trouble> {
        let Some((_, command)) = only(hook, COMMAND)? else { return Ok(None) };
        let Some(line) = command.value.as_string_lit() else { return Ok(None) };
        let line = (span(line), line.value.clone().into_owned());
        Ok(started(&line.1).map(|entry| OwnHook { event: event.to_owned(), entry, line, cut }))
    }

    /// The command line at a moment.
    fn line(entry: &Entry, event: &str) -> String {
        let (hook, rest) = entry.args.split_at(entry.args.len().min(2));
        let words = std::iter::once(&entry.command).chain(hook).map(String::as_str);
        let words = words.chain([event]).chain(rest.iter().map(String::as_str));
        // No shell of Windows minds `/`, and some take `\` for something else.
        let word =
            |word: &str| if cfg!(windows) { shell::quoted(&word.replace('\\', "/")) } else { shell::quoted(word) };
        words.map(word).collect::<Vec<_>>().join(" ")
    }

    fn shape(&self, entry: &Entry, event: &str) -> Shape {
        let command = (COMMAND.to_owned(), Shape::Line(quoted(&Self::line(entry, event))));
        let hook = Shape::object(Shape::lines(self.before).chain([command]).chain(Shape::lines(self.after)));
        if self.is_grouped { Shape::object([(HOOKS, Shape::List(vec![hook]))]) } else { hook }
    }
}

/// What a command line starts, if that is memdir for a hook: the moment is left out.
fn started(line: &str) -> Option<Entry> {
    let mut words = shell::words(line)?.into_iter();
    let command = words.next().filter(|command| is_memdir(command))?;
    let verb = words.next().filter(|verb| verb == VERB)?;
    let program = words.next()?;
    let _moment = words.next()?;
    Some(Entry { command, args: [verb, program].into_iter().chain(words).collect() })
}
