//! JSON as a provider sends it: strict, and with every key of an object, so that one given twice can be refused.
//!
//! `serde_json` reads it, with its limit on depth, so neither reading nor dropping exhausts the stack.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A value of JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Leaf(Value),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl From<Value> for Tree {
    fn from(value: Value) -> Self {
        match value {
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Object(map) => Self::Object(map.into_iter().map(|(key, value)| (key, value.into())).collect()),
            Value::Number(number) if number.is_f64() => Self::Leaf(number.as_f64().map_or(Value::Null, whole)),
            leaf @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => Self::Leaf(leaf),
        }
    }
}

/// A whole number is one however it is written: Gemini's numbers are all floats inside, and some come as `1.0`.
fn whole(number: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough")]
        return (number as i64).into();
    }
    number.into()
}

impl Tree {
    /// The value under a key; of several the first.
    pub(crate) fn get(&self, key: &str) -> Option<&Tree> {
        let Self::Object(pairs) = self else { return None };
        pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The keys of an object, none for anything else.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        let pairs = if let Self::Object(pairs) = self { pairs.as_slice() } else { &[] };
        pairs.iter().map(|(key, _)| key.as_str())
    }

    pub(crate) fn list(&self) -> Option<&[Tree]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Leaf(Value::String(text)) = self { Some(text) } else { None }
    }

    /// The text under a key.
    pub(crate) fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Leaf(Value::Null))
    }

    /// A key that this object itself has twice.
    pub(crate) fn doubled(&self) -> Option<&str> {
        let Self::Object(pairs) = self else { return None };
        let mut seen = std::collections::HashSet::with_capacity(pairs.len());
        pairs.iter().map(|(key, _)| key.as_str()).find(|key| !seen.insert(*key))
    }

    /// The value without what was said twice; the error is the first key that was.
    pub(crate) fn value(&self) -> Result<Value, String> {
        match self {
            Self::Leaf(value) => Ok(value.clone()),
            Self::List(items) => items.iter().map(Self::value).collect::<Result<_, _>>().map(Value::Array),
            Self::Object(pairs) => {
                let mut map = Map::with_capacity(pairs.len());
                for (key, value) in pairs {
                    if map.insert(key.clone(), value.value()?).is_some() {
                        return Err(key.clone());
                    }
                }
                Ok(Value::Object(map))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Tree;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Leaf(Value::Null))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Tree, E> {
        Ok(Tree::Leaf(flag.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
        Ok(Tree::Leaf(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Tree, E> {
        Ok(Tree::Leaf(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Tree, E> {
        Ok(Tree::Leaf(whole(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Leaf(text.into()))
    }

    fn visit_string<E>(self, text: String) -> Result<Tree, E> {
        Ok(Tree::Leaf(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Tree, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = access.next_entry()? {
            pairs.push(pair);
        }
        Ok(Tree::Object(pairs))
    }
}
