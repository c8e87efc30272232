//! [`Variables`]: the results of calls by the names that these gave them.

use serde::ser::{Serialize, Serializer};

use super::{Outcome, Value, bound};

/// Results by name, the newest value of a name; `Error: ` and the message where the call failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variables(Vec<(String, Value)>);

impl Variables {
    /// Variables by name; of a name that is there twice, the last counts.
    #[must_use]
    pub fn new(variables: impl IntoIterator<Item = (String, Value)>) -> Self {
        let mut kept = Vec::<(String, Value)>::new();
        for (name, value) in variables {
            kept.retain(|(other, _)| *other != name);
            kept.push((name, value));
        }
        Self(kept)
    }

    /// The variables in the order in which they were last set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Puts `new` in the place of a value that is still `old`.
    pub fn replace(&mut self, name: &str, old: &Value, new: Value) {
        if let Some((_, value)) = self.0.iter_mut().find(|(other, value)| other == name && value == old) {
            *value = new;
        }
    }

    /// Cuts the texts for which there is no more room than `most` bytes to their first `short` ones.
    pub(super) fn bound(&mut self, most: usize, short: usize) {
        let mut left = most;
        for (_, value) in &mut self.0 {
            let Value::Text(text) = value else { continue };
            match left.checked_sub(bound::size(text)) {
                Some(rest) => left = rest,
                None => bound::clip(text, short),
            }
        }
    }

    /// The value of a variable whose call failed.
    pub(super) fn error(message: &str) -> Value {
        Value::Text(format!("Error: {message}"))
    }

    /// Gathers the results of calls that have a name for them.
    #[must_use]
    pub fn of(outcomes: &[Outcome]) -> Self {
        Self::new(outcomes.iter().filter_map(|outcome| {
            let value = match &outcome.result {
                Ok(value) => value.clone(),
                Err(failure) => Self::error(&failure.message),
            };
            Some((outcome.label.clone()?, value))
        }))
    }
}

impl Serialize for Variables {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
