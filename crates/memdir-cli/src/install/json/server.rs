//! The entry of a server, by its name in an object of servers.

use jsonc_parser::ast::{Object, Value};

use super::super::edit::{Edit, FoundEntry, Starts, Trouble, Written, joined, listed, quoted};
use super::super::{Entry, NAME};
use super::{Container, Document, Shape, only, put, span, without_empty};

/// How a program writes a server.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct ServerForm {
    /// The object that holds the servers by their names.
    pub(in super::super) list: &'static str,
    /// Whether `command` is a list that holds the arguments too.
    pub(in super::super) is_joined: bool,
    /// What stands before the command: names, and values as JSON.
    pub(in super::super) before: &'static [(&'static str, &'static str)],
    /// What stands behind it.
    pub(in super::super) after: &'static [(&'static str, &'static str)],
}

impl ServerForm {
    pub(in super::super) fn find(&self, text: &str) -> Result<Option<FoundEntry>, Trouble> {
        let document = Document::read(text)?;
        let Some(servers) = document.object(&[self.list])? else { return Ok(None) };
        let Some((at, property)) = only(servers, NAME)? else { return Ok(None) };
        let cut = Some(document.cut(&Container::of_object(servers), at));
        let Value::Object(object) = &property.value else {
            return Ok(Some(FoundEntry { starts: None, lacks: Vec::new(), cut }));
        };
        Ok(Some(FoundEntry { starts: self.starts(object)?, lacks: self.lacks(&document, object)?, cut }))
    }

    /// What an entry starts, if it is of that kind.
    fn starts(&self, object: &Object<'_>) -> Result<Option<Starts>, Trouble> {
        let texts = |value: &Value<'_>| {
            let texts = value.as_array()?.elements.iter();
            texts
                .map(|value| value.as_string_lit().map(|text| text.value.clone().into_owned()))
                .collect::<Option<Vec<_>>>()
        };
        let Some((_, command)) = only(object, "command")? else { return Ok(None) };
        if self.is_joined {
            let Some(mut args) = texts(&command.value).filter(|texts| !texts.is_empty()) else { return Ok(None) };
            let entry = Entry { command: args.remove(0), args };
            return Ok(Some(Starts { entry, written: Written::Joined(span(&command.value)) }));
        }
        let Some((_, args)) = only(object, "args")? else { return Ok(None) };
        let (Some(name), Some(texts)) = (command.value.as_string_lit(), texts(&args.value)) else { return Ok(None) };
        let entry = Entry { command: name.value.clone().into_owned(), args: texts };
        Ok(Some(Starts { entry, written: Written::Apart { command: span(&command.value), args: span(&args.value) } }))
    }

    /// The edits that add what an entry has to have and does not. What the person has set herself stays.
    fn lacks(&self, document: &Document<'_>, object: &Object<'_>) -> Result<Vec<Edit>, Trouble> {
        let mut missing = Vec::new();
        for (name, value) in self.before.iter().chain(self.after) {
            if only(object, name)?.is_none() {
                missing.push((Some(*name), Shape::Line((*value).to_owned())));
            }
        }
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        Ok(document.append(&Container::of_object(object), &missing))
    }

    /// Whether the entry has a value that the person has set otherwise than `install` does.
    pub(in super::super) fn differs(&self, text: &str) -> bool {
        let differs = || {
            let document = Document::read(text)?;
            let Some(entry) = document.object(&[self.list, NAME])? else { return Ok(false) };
            for (name, value) in self.after {
                let is_same = |found: &Value<'_>| text.get(span(found)).is_some_and(|found| found == *value);
                if only(entry, name)?.is_some_and(|(_, property)| !is_same(&property.value)) {
                    return Ok(true);
                }
            }
            Ok::<_, Trouble>(false)
        };
        differs().unwrap_or(true)
    }

    pub(in super::super) fn add(&self, text: &str, entry: &Entry) -> Result<String, Trouble> {
        let apart = [("command", quoted(&entry.command)), ("args", listed(&entry.args))];
        let joined = [("command", joined(entry))];
        let command: &[(&str, String)] = if self.is_joined { &joined } else { &apart };
        let command = command.iter().map(|(name, value)| ((*name).to_owned(), Shape::Line(value.clone())));
        let lines = Shape::lines(self.before).chain(command).chain(Shape::lines(self.after));
        put(text, &[self.list, NAME], Shape::object(lines))
    }

    /// What may have stood there before the entry, which is cut out of `text` already.
    pub(in super::super) fn bare(&self, text: &str) -> Result<Vec<String>, Trouble> {
        Ok(vec![without_empty(text, &[self.list])?, text.to_owned()])
    }
}
