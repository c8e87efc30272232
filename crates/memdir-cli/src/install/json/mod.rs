//! JSON, and JSON with comments: `jsonc-parser` says what is where, and edits replace spans.
//!
//! Two things are done to a text: a value is put under a name, or behind the others of a list, and one is taken out again. All
//! else stays byte for byte: comments, indents, line ends, commas behind the last of a list.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, ParseResult, parse_to_ast};

use super::edit::{Edit, Trouble, edited, indent, is_first, line_end, line_start, quoted};

pub(super) mod hooks;
pub(super) mod server;

/// How far a level is moved in where the file does not show it.
const STEP: &str = "  ";

/// A value that is written into a text.
#[derive(Clone, Debug)]
enum Shape {
    /// One that has a single line.
    Line(String),
    List(Vec<Shape>),
    Object(Vec<(String, Shape)>),
}

impl Shape {
    fn object(entries: impl IntoIterator<Item = (impl Into<String>, Shape)>) -> Self {
        Self::Object(entries.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// Each of these under its name, whose value is JSON.
    fn lines(entries: &[(&str, &str)]) -> impl Iterator<Item = (String, Self)> {
        entries.iter().map(|(name, value)| ((*name).to_owned(), Self::Line((*value).to_owned())))
    }

    /// The value as it stands behind `inner`, the indent of its line.
    fn written(&self, layout: &Layout<'_>, inner: &str) -> String {
        let deeper = format!("{inner}{}", layout.step);
        let (open, close, items): (_, _, Vec<String>) = match self {
            Self::Line(text) => return text.clone(),
            Self::List(items) => ('[', ']', items.iter().map(|item| item.written(layout, &deeper)).collect()),
            Self::Object(entries) => {
                let written =
                    |(name, value): &(String, Self)| format!("{}: {}", quoted(name), value.written(layout, &deeper));
                ('{', '}', entries.iter().map(written).collect())
            }
        };
        let end = layout.end;
        format!("{open}{end}{deeper}{}{end}{inner}{close}", items.join(&format!(",{end}{deeper}")))
    }
}

/// How a text is laid out.
#[derive(Debug)]
struct Layout<'t> {
    /// How its lines end.
    end: &'t str,
    /// How far a level is moved in.
    step: String,
}

/// A text and what stands in it.
struct Document<'t> {
    text: &'t str,
    parsed: ParseResult<'t>,
}

/// An object or a list: where it is, and where each thing in it is.
#[derive(Debug)]
struct Container {
    range: Range<usize>,
    items: Vec<Range<usize>>,
}

impl Container {
    fn of_object(object: &Object<'_>) -> Self {
        Self { range: span(object), items: object.properties.iter().map(span).collect() }
    }

    fn of_list(list: &Array<'_>) -> Self {
        Self { range: span(list), items: list.elements.iter().map(span).collect() }
    }
}

fn span(node: &impl Ranged) -> Range<usize> {
    node.start()..node.end()
}

/// The one property of this name.
fn only<'o, 'a>(object: &'o Object<'a>, name: &str) -> Result<Option<(usize, &'o ObjectProp<'a>)>, Trouble> {
    let mut all = object.properties.iter().enumerate().filter(|(_, property)| property.name.as_str() == name);
    let found = all.next();
    if all.next().is_some() { Err(Trouble::Unread(format!("it has `{name}` twice"))) } else { Ok(found) }
}

impl<'t> Document<'t> {
    fn read(text: &'t str) -> Result<Self, Trouble> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let options = ParseOptions {
            allow_comments: true,
            allow_loose_object_property_names: false,
            allow_trailing_commas: true,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(text, &collect, &options);
        let parsed = parsed.map_err(|error| Trouble::Unread(format!("it is no JSON: {error}")))?;
        Ok(Self { text, parsed })
    }

    /// The object that the text is; `None` where nothing is in it.
    fn root(&self) -> Result<Option<&Object<'t>>, Trouble> {
        match &self.parsed.value {
            None if self.text.trim().is_empty() => Ok(None),
            None => Err(Trouble::Unread("it holds nothing but comments".to_owned())),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(Trouble::Unread("it is no JSON object".to_owned())),
        }
    }

    /// The value under these names, each in the object of the one before.
    fn value(&self, names: &[&str]) -> Result<Option<&Value<'t>>, Trouble> {
        let Some((last, above)) = names.split_last() else { return Ok(self.parsed.value.as_ref()) };
        let Some(object) = self.object(above)? else { return Ok(None) };
        Ok(only(object, last)?.map(|(_, property)| &property.value))
    }

    fn object(&self, names: &[&str]) -> Result<Option<&Object<'t>>, Trouble> {
        let Some(name) = names.last() else { return self.root() };
        match self.value(names)? {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(Trouble::Unread(format!("its `{name}` is no object"))),
        }
    }

    fn list(&self, names: &[&str]) -> Result<Option<&Array<'t>>, Trouble> {
        match self.value(names)? {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(_) => Err(Trouble::Unread(format!("its `{}` is no list", names.join(".")))),
        }
    }

    fn layout(&self) -> Layout<'t> {
        let first = self.root().ok().flatten().and_then(|root| root.properties.first()).map(Ranged::start);
        let step = first.filter(|at| is_first(self.text, *at)).map_or(STEP, |at| indent(self.text, at));
        let step = if step.is_empty() { STEP } else { step };
        Layout { end: line_end(self.text), step: step.to_owned() }
    }

    fn tokens(&self) -> impl Iterator<Item = &TokenAndRange<'t>> {
        self.parsed.tokens.iter().flatten()
    }

    /// The first comma that comes after `from` and before `to`.
    fn comma(&self, from: usize, to: usize) -> Option<Range<usize>> {
        let mut tokens = self.tokens();
        let found =
            tokens.find(|token| token.range.start >= from && token.range.end <= to && token.token == Token::Comma)?;
        Some(found.range.start..found.range.end)
    }

    /// Adds things behind all that stands in a container, comments too.
    fn append(&self, container: &Container, things: &[(Option<&str>, Shape)]) -> Vec<Edit> {
        let (text, layout) = (self.text, self.layout());
        let close = container.range.end - 1;
        let last = self.tokens().map(|token| token.range.end).filter(|end| *end <= close).max();
        let last = last.unwrap_or(container.range.start + 1);
        let outer = indent(text, container.range.start);
        let first = container.items.first().map(|first| first.start);
        let is_one_line = first.is_some_and(|first| !is_first(text, first));
        let inner = first.map_or_else(|| format!("{outer}{}", layout.step), |first| indent(text, first).to_owned());
        let things: Vec<String> = things
            .iter()
            .map(|(name, value)| {
                let value = value.written(&layout, &inner);
                let lead = name.map(|name| format!("{}: ", quoted(name))).unwrap_or_default();
                if !is_one_line {
                    return format!("{}{inner}{lead}{value}", layout.end);
                }
                format!(" {lead}{}", value.lines().map(str::trim).collect::<Vec<_>>().join(" "))
            })
            .collect();
        let before = container.items.last().map(|item| (item.end, self.comma(item.end, close)));
        let trailing = if matches!(before, Some((_, Some(_)))) { "," } else { "" };
        let mut put = format!("{}{trailing}", things.join(","));
        if !is_one_line && !text.get(last..close).unwrap_or_default().contains('\n') {
            put.push_str(layout.end);
            put.push_str(outer);
        }
        let missing = before.filter(|(_, comma)| comma.is_none()).map(|(at, _)| (at..at, ",".to_owned()));
        missing.into_iter().chain([(last..last, put)]).collect()
    }

    /// Takes the thing at this place out of a container, with the comma that is then one too many and with its lines.
    fn cut(&self, container: &Container, at: usize) -> Vec<Edit> {
        let text = self.text;
        let Some(Range { start, end }) = container.items.get(at).cloned() else { return Vec::new() };
        let next = container.items.get(at + 1);
        let own = self.comma(end, next.map_or(container.range.end, |next| next.start));
        let to = own.as_ref().map_or(end, |comma| comma.end);
        let before = text.get(..start).unwrap_or_default();
        let rest = text.get(to..).unwrap_or_default();
        let (from, to) = if !is_first(text, start) {
            (before.trim_end_matches([' ', '\t']).len(), to)
        } else if rest.trim_start_matches([' ', '\t']).starts_with(['\n', '\r']) && line_start(text, start) > 0 {
            // It has lines of its own: they go from the end of the line before.
            let line = before.get(..line_start(text, start) - 1).unwrap_or_default();
            (line.strip_suffix('\r').unwrap_or(line).len(), to)
        } else {
            // What follows on its line takes its place, and never comes behind what may be a comment.
            (start, to + rest.len() - rest.trim_start_matches([' ', '\t']).len())
        };
        let mut edits = vec![(from..to, String::new())];
        if let (None, None, Some(previous)) = (&own, next, at.checked_sub(1).and_then(|at| container.items.get(at))) {
            edits.extend(self.comma(previous.end, start).map(|comma| (comma, String::new())));
        }
        edits
    }
}

/// All that a text holds.
pub(super) fn value(text: &str) -> Result<serde_json::Value, Trouble> {
    Ok(Document::read(text)?.parsed.value.as_ref().map_or(serde_json::Value::Null, plain))
}

fn plain(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::StringLit(text) => text.value.as_ref().into(),
        // A number is written as JSON has it.
        Value::NumberLit(number) => serde_json::from_str(number.value).unwrap_or_default(),
        Value::BooleanLit(is_true) => is_true.value.into(),
        Value::Object(object) => {
            let entry = |property: &ObjectProp<'_>| (property.name.as_str().to_owned(), plain(&property.value));
            object.properties.iter().map(entry).collect::<serde_json::Map<_, _>>().into()
        }
        Value::Array(list) => list.elements.iter().map(plain).collect(),
        Value::NullKeyword(_) => serde_json::Value::Null,
    }
}

/// Whether the value under these names is `true`.
pub(super) fn is_on(text: &str, names: &[&str]) -> bool {
    let is_on = |document: &Document<'_>| matches!(document.value(names), Ok(Some(Value::BooleanLit(on))) if on.value);
    Document::read(text.trim_start_matches('\u{feff}')).is_ok_and(|document| is_on(&document))
}

/// Puts a value under the last of these names, making the objects on the way that are not there. Nothing has to be under it.
fn put(text: &str, names: &[&str], value: Shape) -> Result<String, Trouble> {
    let document = Document::read(text)?;
    let nested = |names: &[&str], value| names.iter().rev().fold(value, |value, name| Shape::object([(*name, value)]));
    if document.root()?.is_none() {
        let layout = Layout { end: line_end(text), step: STEP.to_owned() };
        return Ok(format!("{}{}", nested(names, value).written(&layout, ""), layout.end));
    }
    for (depth, name) in names.iter().enumerate().rev() {
        let (above, below) = (names.get(..depth).unwrap_or_default(), names.get(depth + 1..).unwrap_or_default());
        if let Some(object) = document.object(above)? {
            let thing = (Some(*name), nested(below, value));
            return Ok(edited(text, document.append(&Container::of_object(object), &[thing])));
        }
    }
    Err(Trouble::Form("it"))
}

/// Puts a value behind the others of the list under these names, which is made where it is not there.
fn push(text: &str, names: &[&str], value: Shape) -> Result<String, Trouble> {
    let document = Document::read(text)?;
    match document.list(names)? {
        Some(list) => Ok(edited(text, document.append(&Container::of_list(list), &[(None, value)]))),
        None => put(text, names, Shape::List(vec![value])),
    }
}

/// Takes the property out that these names lead to, if it is an object or a list with nothing in it, not even a comment.
fn without_empty(text: &str, names: &[&str]) -> Result<String, Trouble> {
    let document = Document::read(text)?;
    let Some((name, above)) = names.split_last() else { return Ok(text.to_owned()) };
    let Some(object) = document.object(above)? else { return Ok(text.to_owned()) };
    let Some((at, property)) = only(object, name)? else { return Ok(text.to_owned()) };
    let inside = property.value.start() + 1..property.value.end() - 1;
    let is_container = matches!(&property.value, Value::Object(_) | Value::Array(_));
    if !is_container || !text.get(inside).is_some_and(|inside| inside.trim().is_empty()) {
        return Ok(text.to_owned());
    }
    Ok(edited(text, document.cut(&Container::of_object(object), at)))
}
