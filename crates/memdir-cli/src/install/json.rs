//! JSON, and JSON with comments: `jsonc-parser` says what is where, and edits replace spans.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, ParseResult, parse_to_ast};

use super::change::{
    Edit, FoundEntry, Starts, Trouble, edited, indent, is_first, line_end, line_start, listed, quoted,
};
use super::{Entry, NAME};

/// How far a level is moved in where the file does not show it.
const STEP: &str = "  ";

/// How a value is written on several lines, behind an indent.
type Written<'a> = &'a dyn Fn(&str) -> String;

fn parse(text: &str) -> Result<ParseResult<'_>, Trouble> {
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
    parse_to_ast(text, &collect, &options).map_err(|error| Trouble::Unread(format!("it is no JSON: {error}")))
}

/// The one property of this name.
fn only<'o, 'a>(object: &'o Object<'a>, name: &str) -> Result<Option<(usize, &'o ObjectProp<'a>)>, Trouble> {
    let mut all = object.properties.iter().enumerate().filter(|(_, property)| property.name.as_str() == name);
    let found = all.next();
    if all.next().is_some() { Err(Trouble::Unread(format!("it has `{name}` twice"))) } else { Ok(found) }
}

fn root<'r, 'a>(parsed: &'r ParseResult<'a>) -> Result<Option<&'r Object<'a>>, Trouble> {
    match &parsed.value {
        None => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(Trouble::Unread("it is no JSON object".to_owned())),
    }
}

fn servers<'r, 'a>(root: &'r Object<'a>, list: &str) -> Result<Option<&'r Object<'a>>, Trouble> {
    match only(root, list)?.map(|(_, property)| &property.value) {
        None => Ok(None),
        Some(Value::Object(servers)) => Ok(Some(servers)),
        Some(_) => Err(Trouble::Unread(format!("its `{list}` is no object"))),
    }
}

pub(super) fn find(text: &str, list: &str) -> Result<Option<FoundEntry>, Trouble> {
    let parsed = parse(text)?;
    let Some(root) = root(&parsed)? else { return Ok(None) };
    let Some(servers) = servers(root, list)? else { return Ok(None) };
    let Some((at, property)) = only(servers, NAME)? else { return Ok(None) };
    Ok(Some(FoundEntry { starts: starts(&property.value)?, cut: Some(cut(text, &parsed, servers, at)) }))
}

/// What an entry starts, if it is of that kind.
fn starts(value: &Value<'_>) -> Result<Option<Starts>, Trouble> {
    let Value::Object(object) = value else { return Ok(None) };
    let (command, args) = (only(object, "command")?, only(object, "args")?);
    let (Some((_, command)), Some((_, args))) = (command, args) else { return Ok(None) };
    let (Value::StringLit(command), Value::Array(args)) = (&command.value, &args.value) else { return Ok(None) };
    let texts = args.elements.iter().map(|value| value.as_string_lit().map(|text| text.value.clone().into_owned()));
    let Some(texts) = texts.collect::<Option<Vec<String>>>() else { return Ok(None) };
    let entry = Entry { command: command.value.clone().into_owned(), args: texts };
    let span = |range: jsonc_parser::common::Range| range.start..range.end;
    Ok(Some(Starts { entry, command: span(command.range), args: span(args.range) }))
}

/// The places of the commas of an object that come after `from` and before `to`.
fn comma(parsed: &ParseResult<'_>, from: usize, to: usize) -> Option<std::ops::Range<usize>> {
    let mut tokens = parsed.tokens.iter().flatten();
    let found =
        tokens.find(|token| token.range.start >= from && token.range.end <= to && token.token == Token::Comma)?;
    Some(found.range.start..found.range.end)
}

/// Takes the property at this place out, with the comma that is then one too many and with its lines.
fn cut(text: &str, parsed: &ParseResult<'_>, object: &Object<'_>, at: usize) -> Vec<Edit> {
    let Some(property) = object.properties.get(at) else { return Vec::new() };
    let (start, end) = (property.range().start, property.range().end);
    let next = object.properties.get(at + 1);
    let until = next.map_or(object.range.end, |next| next.range().start);
    let own = comma(parsed, end, until);
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
    if let (None, None, Some(previous)) = (&own, next, at.checked_sub(1).and_then(|at| object.properties.get(at))) {
        edits.extend(comma(parsed, previous.range().end, start).map(|comma| (comma, String::new())));
    }
    edits
}

pub(super) fn add(text: &str, list: &str, has_type: bool, entry: &Entry) -> Result<String, Trouble> {
    let end = line_end(text);
    let parsed = parse(text)?;
    let Some(root) = root(&parsed)? else {
        if !text.trim().is_empty() {
            return Err(Trouble::Unread("it holds nothing but comments".to_owned()));
        }
        let servers = nested(end, STEP, STEP, &|inner| written(end, STEP, inner, has_type, entry));
        return Ok(format!("{{{end}{STEP}{}: {servers}{end}}}{end}", quoted(list)));
    };
    let step = step(text, root);
    let entry = |inner: &str| written(end, &step, inner, has_type, entry);
    let edits = match servers(root, list)? {
        Some(servers) => insert(text, &parsed, servers, (end, &step), NAME, &entry),
        None => insert(text, &parsed, root, (end, &step), list, &|inner| nested(end, &step, inner, &entry)),
    };
    Ok(edited(text, edits))
}

/// How far the first level of a file is moved in.
fn step(text: &str, root: &Object<'_>) -> String {
    let first = root.properties.first().map(|first| first.range().start).filter(|at| is_first(text, *at));
    let step = first.map_or(STEP, |at| indent(text, at));
    if step.is_empty() { STEP.to_owned() } else { step.to_owned() }
}

/// An object that holds only our entry, `inner` being the indent of its name.
fn nested(end: &str, step: &str, inner: &str, entry: Written<'_>) -> String {
    let deeper = format!("{inner}{step}");
    format!("{{{end}{deeper}{}: {}{end}{inner}}}", quoted(NAME), entry(&deeper))
}

/// Our entry, `inner` being the indent of its name.
fn written(end: &str, step: &str, inner: &str, has_type: bool, entry: &Entry) -> String {
    let kind = if has_type { format!("{end}{inner}{step}\"type\": \"stdio\",") } else { String::new() };
    let (command, args) = (quoted(&entry.command), listed(&entry.args));
    format!("{{{kind}{end}{inner}{step}\"command\": {command},{end}{inner}{step}\"args\": {args}{end}{inner}}}")
}

/// Adds a property as the last one of an object.
fn insert(
    text: &str,
    parsed: &ParseResult<'_>,
    object: &Object<'_>,
    (end, step): (&str, &str),
    name: &str,
    value: Written<'_>,
) -> Vec<Edit> {
    let close = object.range.end - 1;
    // Behind all that stands in the object, comments too.
    let tokens = parsed.tokens.iter().flatten();
    let last = tokens.filter(|token| token.range.end <= close).map(|token| token.range.end).max();
    let last = last.unwrap_or(object.range.start + 1);
    let outer = indent(text, object.range.start).to_owned();
    let first = object.properties.first().map(|first| first.range().start);
    let is_one_line = first.is_some_and(|first| !is_first(text, first));
    let inner = match first {
        Some(first) => indent(text, first).to_owned(),
        None => format!("{outer}{step}"),
    };
    let value = value(&inner);
    let comma = object.properties.last().map(|last| (last.range().end, comma(parsed, last.range().end, close)));
    let trailing = if matches!(comma, Some((_, Some(_)))) { "," } else { "" };
    let mut put = if is_one_line {
        let lines = value.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        format!(" {}: {lines}{trailing}", quoted(name))
    } else {
        format!("{end}{inner}{}: {value}{trailing}", quoted(name))
    };
    if !is_one_line && !text.get(last..close).unwrap_or_default().contains('\n') {
        put.push_str(end);
        put.push_str(&outer);
    }
    let mut edits = vec![(last..last, put)];
    if let Some((at, None)) = comma {
        edits.insert(0, (at..at, ",".to_owned()));
    }
    edits
}
