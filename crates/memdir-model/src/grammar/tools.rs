//! Calls of tools of other servers, as a grammar and as a schema: `{"action":"call_tool","name":…,"arguments":…}`.
//!
//! Owns what of a tool's own schema a model is held to: objects, lists, texts, numbers, booleans and choices, as deep as a call of a small
//! model goes. The rest is any JSON within a bound. A schema is a stranger's: whatever it says, what is made of it is small.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::turns::{MAX_FULL_TEXT, MAX_LIST};
use super::{Class, Part, Rule, named, text, times, token, tree};
use memdir_core::catalog::ACTION;

/// How deep a schema is followed, through references too.
const MOST_DEPTH: usize = 6;
/// How many schemas are read in one of a tool. What lies beyond is not offered, or any JSON where it is required.
const MOST_SCHEMAS: usize = 100;
/// How many members of an object a model is offered: the required ones, and the first of the others.
const MOST_MEMBERS: usize = 16;
/// An object with more members than this is any object.
const MOST_PROPERTIES: usize = 300;
/// In how many bytes of JSON the name of a member is written at most. A longer one is not offered; its object is any where it is required.
const MOST_NAME_BYTES: usize = 256;
/// How many values a choice has at most, and in how many bytes; a longer one is any JSON.
const MOST_CHOICES: usize = 64;
const MOST_CHOICE_BYTES: usize = 2_048;
/// How many characters the name of a member has at most where it is free.
const MOST_KEY: usize = 60;

/// What tools a turn may call.
#[derive(Clone, Debug)]
pub enum Callable<'t> {
    /// These, by the name under which each is offered, with the schema of its arguments; empty: none.
    These(Vec<(&'t str, &'t Value)>),
    /// Any, by a name that the model has been told, with any arguments.
    Any,
}

impl Callable<'_> {
    /// The JSON Schema of a call, one for each tool. It says what the grammar says, so that a server which takes a schema holds a model to the
    /// same; references are resolved.
    #[must_use]
    pub fn schemas(&self) -> Vec<Value> {
        let call = |name: Value, arguments: Value| {
            let properties = json!({ACTION: {"const": CALL_TOOL}, "name": name, "arguments": arguments});
            object_schema(&properties, &[ACTION, "name", "arguments"])
        };
        match self {
            Self::These(tools) => {
                let schema = |(name, schema): &(&str, &Value)| call(json!({"const": name}), arguments(schema).schema());
                tools.iter().map(schema).collect()
            }
            Self::Any => {
                let cursor = json!({ACTION: {"const": CALL_TOOL}, "cursor": {"type": "string"}});
                vec![
                    call(json!({"type": "string"}), Takes::AnyObject.schema()),
                    object_schema(&cursor, &[ACTION, "cursor"]),
                ]
            }
        }
    }

    /// The names of the rules for these calls, which are added with what they need.
    pub(super) fn rules(&self, rules: &mut Vec<Rule>) -> Vec<String> {
        let start = |rest: &str| text(&format!("{{\"{ACTION}\":\"{CALL_TOOL}\",{rest}"));
        let mut names = Vec::new();
        let mut add = |rules: &mut Vec<Rule>, parts: Vec<Part>| {
            let name = numbered("tool", names.len());
            rules.push(tree(&name, Part::All(parts)));
            names.push(name);
        };
        match self {
            Self::These(tools) => {
                for (name, schema) in tools {
                    let given = arguments(schema).part(rules);
                    let head = format!("\"name\":{},\"arguments\":", json_text(&json!(name)));
                    add(rules, vec![start(&head), given, text("}")]);
                }
            }
            Self::Any => {
                let name =
                    [start("\"name\":"), named("full-text"), text(",\"arguments\":"), named("any-object"), text("}")];
                add(rules, name.into());
                add(rules, vec![start("\"cursor\":"), named("full-text"), text("}")]);
            }
        }
        names
    }
}

const CALL_TOOL: &str = "call_tool";

/// The rules for JSON of which nothing is known: an object, in whose members stand plain values, and lists and objects of such.
pub(super) fn any() -> Vec<Rule> {
    let digits = |least, most| times(Part::One(Class::Of(vec![('0', '9')])), least, most);
    let from_one = Part::All(vec![Part::One(Class::Of(vec![('1', '9')])), digits(0, 14)]);
    let whole = || Part::All(vec![times(text("-"), 0, 1), Part::Any(vec![text("0"), from_one.clone()])]);
    let fraction = times(Part::All(vec![text("."), digits(1, 9)]), 0, 1);
    let member = |value: &str| Part::All(vec![named("any-key"), text(":"), named(value)]);
    let string = |least, most| Part::All(vec![text("\""), times(named("char"), least, most), text("\"")]);
    let plain = ["any-text", "decimal", "flag"].map(named).into_iter().chain([text("null")]);
    vec![
        tree("any-object", list("{", member("any"), "}")),
        tree("any", Part::Any(vec![named("plain"), named("plains"), named("plain-object")])),
        tree("plain-object", list("{", member("plain"), "}")),
        tree("plains", list("[", named("plain"), "]")),
        tree("plain", Part::Any(plain.collect())),
        token("any-key", string(1, MOST_KEY)),
        token("any-text", string(0, MAX_FULL_TEXT)),
        token("decimal", Part::All(vec![whole(), fraction])),
        token("whole", whole()),
    ]
}

/// Up to [`MAX_LIST`] of something between two brackets.
fn list(open: &str, item: Part, close: &str) -> Part {
    let more = times(Part::All(vec![text(","), item.clone()]), 0, MAX_LIST - 1);
    Part::All(vec![text(open), times(Part::All(vec![item, more]), 0, 1), text(close)])
}

/// What an argument may be.
#[derive(Clone, Debug, PartialEq)]
enum Takes {
    Any,
    AnyObject,
    Text,
    Number,
    Whole,
    Flag,
    Null,
    OneOf(Vec<Value>),
    List(Box<Takes>),
    Object(Vec<Member>),
    Either(Vec<Takes>),
}

#[derive(Clone, Debug, PartialEq)]
struct Member {
    name: String,
    takes: Takes,
    is_required: bool,
}

/// What a tool takes. One whose schema names no arguments takes none, unless it says that it takes any.
fn arguments(schema: &Value) -> Takes {
    const NAMING: [&str; 5] = ["properties", "$ref", "anyOf", "oneOf", "allOf"];
    let is_open = schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
    let takes = (Reader { root: schema, left: MOST_SCHEMAS }).takes(schema, MOST_DEPTH);
    if let Some(takes @ Takes::Object(_)) = takes {
        takes
    } else if is_open || NAMING.iter().any(|key| schema.get(*key).is_some()) {
        Takes::AnyObject
    } else {
        Takes::Object(Vec::new())
    }
}

/// Reads a schema of a stranger.
struct Reader<'s> {
    /// Where references lead.
    root: &'s Value,
    /// How many more schemas are read.
    left: usize,
}

impl Reader<'_> {
    /// `None` where it is not followed any further.
    fn takes(&mut self, schema: &Value, depth: usize) -> Option<Takes> {
        if depth == 0 || self.left == 0 {
            return None;
        }
        self.left -= 1;
        let Some(members) = schema.as_object() else { return Some(Takes::Any) };
        let choice = members.get("enum").and_then(Value::as_array).cloned();
        if let Some(values) = choice.or_else(|| members.get("const").map(|value| vec![value.clone()])) {
            return Some(one_of(values));
        }
        if let Some(place) = members.get("$ref") {
            let place = place.as_str().and_then(|place| place.strip_prefix('#'));
            let root = self.root;
            return place
                .and_then(|place| root.pointer(place))
                .map_or(Some(Takes::Any), |to| self.takes(to, depth - 1));
        }
        if let Some(ways) = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| members.get(*key)?.as_array()) {
            let is_all = members.contains_key("allOf") && ways.len() > 1;
            let ways = ways.iter().filter_map(|way| self.takes(way, depth - 1));
            return if is_all { Some(Takes::Any) } else { either(ways.collect()) };
        }
        match members.get("type") {
            Some(Value::String(kind)) => self.of_type(kind, members, depth),
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().filter_map(Value::as_str);
                either(kinds.filter_map(|kind| self.of_type(kind, members, depth)).collect())
            }
            _ if members.contains_key("properties") => self.of_type("object", members, depth),
            _ => Some(Takes::Any),
        }
    }

    fn of_type(&mut self, kind: &str, members: &Map<String, Value>, depth: usize) -> Option<Takes> {
        Some(match kind {
            "string" => Takes::Text,
            "number" => Takes::Number,
            "integer" => Takes::Whole,
            "boolean" => Takes::Flag,
            "null" => Takes::Null,
            "array" => Takes::List(Box::new(match members.get("items") {
                Some(items) => self.takes(items, depth - 1)?,
                None => Takes::Any,
            })),
            "object" => match members.get("properties").and_then(Value::as_object) {
                Some(properties) => self.object(properties, members.get("required"), depth),
                None => Takes::AnyObject,
            },
            _ => Takes::Any,
        })
    }

    /// An object with its required members first; any where it has or requires more than is read, or requires a long name.
    fn object(&mut self, properties: &Map<String, Value>, required: Option<&Value>, depth: usize) -> Takes {
        if properties.len() > MOST_PROPERTIES {
            return Takes::AnyObject;
        }
        let required = required.and_then(Value::as_array).into_iter().flatten();
        let required: BTreeSet<&str> = required.filter_map(Value::as_str).collect();
        let (needed, others): (Vec<_>, Vec<_>) =
            properties.iter().partition(|(name, _)| required.contains(name.as_str()));
        let is_short = |name: &str| json_text(&json!(name)).len() <= MOST_NAME_BYTES;
        if needed.len() > MOST_MEMBERS || !needed.iter().all(|(name, _)| is_short(name)) {
            return Takes::AnyObject;
        }
        let others = others.into_iter().filter(|(name, _)| is_short(name));
        let mut members = Vec::new();
        for (name, schema) in needed.into_iter().chain(others).take(MOST_MEMBERS) {
            let is_required = required.contains(name.as_str());
            let takes = self.takes(schema, depth - 1).or(is_required.then_some(Takes::Any));
            members.extend(takes.map(|takes| Member { name: name.clone(), takes, is_required }));
        }
        Takes::Object(members)
    }
}

fn one_of(values: Vec<Value>) -> Takes {
    let is_plain = values.iter().all(|value| !value.is_object() && !value.is_array());
    let bytes: usize = values.iter().map(|value| value.to_string().len()).sum();
    let fits = is_plain && (1..=MOST_CHOICES).contains(&values.len()) && bytes <= MOST_CHOICE_BYTES;
    if fits { Takes::OneOf(values) } else { Takes::Any }
}

/// One of these; any JSON where one of them is that, `None` where there are none.
fn either(mut ways: Vec<Takes>) -> Option<Takes> {
    ways.dedup();
    match ways.len() {
        0 | 1 => ways.pop(),
        _ if ways.contains(&Takes::Any) => Some(Takes::Any),
        _ => Some(Takes::Either(ways)),
    }
}

impl Takes {
    fn part(&self, rules: &mut Vec<Rule>) -> Part {
        match self {
            Self::Any => named("any"),
            Self::AnyObject => named("any-object"),
            Self::Text => named("any-text"),
            Self::Number => named("decimal"),
            Self::Whole => named("whole"),
            Self::Flag => named("flag"),
            Self::Null => text("null"),
            Self::OneOf(values) => Part::Any(values.iter().map(|value| text(&json_text(value))).collect()),
            Self::List(item) => {
                let item = item.part(rules);
                let name = numbered("item", rules.len());
                rules.push(tree(&name, item));
                list("[", named(&name), "]")
            }
            Self::Either(ways) => Part::Any(ways.iter().map(|way| way.part(rules)).collect()),
            Self::Object(members) => object(members, rules),
        }
    }

    fn schema(&self) -> Value {
        match self {
            Self::Any => json!({}),
            Self::AnyObject => json!({"type": "object"}),
            Self::Text => json!({"type": "string", "maxLength": MAX_FULL_TEXT}),
            Self::Number => json!({"type": "number"}),
            Self::Whole => json!({"type": "integer"}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Null => json!({"type": "null"}),
            Self::OneOf(values) => json!({"enum": values}),
            Self::List(item) => json!({"type": "array", "items": item.schema(), "maxItems": MAX_LIST}),
            Self::Either(ways) => json!({"anyOf": ways.iter().map(Self::schema).collect::<Vec<_>>()}),
            Self::Object(members) => {
                let properties: Map<String, Value> =
                    members.iter().map(|member| (member.name.clone(), member.takes.schema())).collect();
                let required = members.iter().filter(|member| member.is_required).map(|member| member.name.as_str());
                object_schema(&Value::Object(properties), &required.collect::<Vec<_>>())
            }
        }
    }
}

/// The JSON Schema of an object with these properties and no others.
#[must_use]
pub fn object_schema(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// An object: all that is required, and then of the others as many as the model wants, in their order.
fn object(members: &[Member], rules: &mut Vec<Rule>) -> Part {
    let mut needed = Vec::new();
    let mut others = Vec::new();
    for member in members {
        let value = member.takes.part(rules);
        let name = numbered("member", rules.len());
        rules.push(tree(&name, Part::All(vec![text(&format!("{}:", json_text(&json!(member.name)))), value])));
        if member.is_required { &mut needed } else { &mut others }.push(named(&name));
    }
    let more = |from: usize| {
        others.iter().skip(from).map(|other| times(Part::All(vec![text(","), other.clone()]), 0, 1)).collect::<Vec<_>>()
    };
    let mut parts = vec![text("{")];
    for (at, one) in needed.iter().enumerate() {
        parts.extend((at > 0).then(|| text(",")));
        parts.push(one.clone());
    }
    if !needed.is_empty() {
        parts.extend(more(0));
    } else if !others.is_empty() {
        // Whichever comes first has no comma before it.
        let first = others
            .iter()
            .enumerate()
            .map(|(at, other)| Part::All(std::iter::once(other.clone()).chain(more(at + 1)).collect()));
        parts.push(times(Part::Any(first.collect()), 0, 1));
    }
    parts.push(text("}"));
    Part::All(parts)
}

/// A plain value as JSON. No tag stands in it: a turn ends at the first that closes one.
fn json_text(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// The name of a rule with a number: letters alone.
fn numbered(name: &str, number: usize) -> String {
    let letters: String = number.to_string().bytes().map(|digit| char::from(b'a' + (digit - b'0'))).collect();
    format!("{name}-{letters}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: &Value, expected: &Value) {
        assert_eq!(arguments(schema).schema(), *expected, "{schema}");
    }

    fn object_of(properties: Value, required: &[&str]) -> Value {
        object_schema(&properties, required)
    }

    #[test]
    fn a_schema_is_kept_as_far_as_a_grammar_can_say_it() {
        let text = json!({"type": "string", "maxLength": MAX_FULL_TEXT});
        check(
            &json!({"type": "object", "required": ["day"], "properties": {
                "limit": {"type": "integer", "minimum": 1}, "day": {"type": "string", "format": "date"}}}),
            &object_of(json!({"day": text, "limit": {"type": "integer"}}), &["day"]),
        );
        check(
            &json!({"properties": {"unit": {"enum": ["C", "F"]}, "is_long": {"type": ["boolean", "null"]},
                "places": {"type": "array", "items": {"$ref": "#/$defs/place"}}}, "$defs": {"place": {"const": "here"}}}),
            &object_of(
                json!({"unit": {"enum": ["C", "F"]}, "is_long": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
                    "places": {"type": "array", "items": {"enum": ["here"]}, "maxItems": MAX_LIST}}),
                &[],
            ),
        );
        check(&json!({"type": "object"}), &object_of(json!({}), &[]));
        check(&json!({"type": "object", "additionalProperties": true}), &json!({"type": "object"}));
        check(&json!({"anyOf": [{"type": "object"}, {"type": "string"}]}), &json!({"type": "object"}));
        check(&json!(7), &object_of(json!({}), &[]));
        check(
            &json!({"properties": {"a": {"not": {}}, "b": {"type": "object"}}}),
            &object_of(json!({"a": {}, "b": {"type": "object"}}), &[]),
        );
    }

    #[test]
    fn whatever_a_schema_says_what_is_made_of_it_is_small() {
        let round = json!({"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/properties/b"}}});
        let many: Map<String, Value> = (0..5_000).map(|at| (format!("a{at}"), round.clone())).collect();
        let names: Vec<&String> = many.keys().collect();
        let long: Map<String, Value> =
            (0..MOST_PROPERTIES).map(|at| (format!("{at}{}", "n".repeat(230)), json!({"$ref": "#"}))).collect();
        let deep = (0..200).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
        let choices: Vec<String> = (0..5_000).map(|at| format!("choice {at}")).collect();
        for schema in [
            round,
            json!({"type": "object", "properties": many}),
            json!({"type": "object", "properties": long}),
            json!({"type": "object", "properties": many, "required": names}),
            json!({"type": "object", "properties": {"a": deep, "b": {"enum": choices}, "c": {"enum": []}}}),
            json!({"properties": {"a": {"anyOf": many.values().collect::<Vec<_>>()}}}),
        ] {
            let mut rules = Vec::new();
            let callable = Callable::These(vec![("a__b", &schema)]);
            assert_eq!(callable.rules(&mut rules).len(), 1);
            rules.insert(0, tree("root", named("tool-a")));
            rules.extend(any());
            rules.extend(super::super::turns::arguments());
            let grammar = super::super::Grammar::of(Vec::new(), rules).gbnf();
            assert!(grammar.len() < 64 << 10, "{} bytes", grammar.len());
            assert!(json!(callable.schemas()).to_string().len() < 64 << 10);
        }
    }
    #[test]
    fn an_object_with_too_many_members_or_long_names_is_any_or_goes_without_them() {
        let long = "n".repeat(2_000);
        let flag = json!({"type": "boolean"});
        let is_any = json!({"type": "object"});
        let with = |inner: &Value| json!({"properties": {"inner": inner}});
        let kept = |inner: Value| object_of(json!({"inner": inner}), &[]);
        check(&with(&json!({"properties": {&long: flag, "b": flag}})), &kept(object_of(json!({"b": flag}), &[])));
        check(&with(&json!({"properties": {&long: flag, "b": flag}, "required": [&long]})), &kept(is_any.clone()));
        // Control characters and the sign that begins a tag are longer once they are written.
        let escaped = "<".repeat(100);
        check(&with(&json!({"properties": {&escaped: flag}})), &kept(object_of(json!({}), &[])));

        let members = |most: usize| (0..most).map(|at| (format!("a{at:03}"), flag.clone())).collect::<Map<_, _>>();
        let first: Vec<Value> = (0..MOST_MEMBERS).map(|at| json!(format!("a{at:03}"))).collect();
        let of_most = json!({"properties": members(MOST_PROPERTIES), "required": first});
        let required: Vec<&str> = first.iter().filter_map(Value::as_str).collect();
        check(&with(&of_most), &kept(object_of(Value::Object(members(MOST_MEMBERS)), &required)));
        check(&with(&json!({"properties": members(MOST_PROPERTIES + 1)})), &kept(is_any));
    }
}
