//! How a model is shown: what the catalogue knows of it together with what lies on the shelf.

use serde::Serialize;

use memdir_core::digest::Digest;
use memdir_core::time::Timestamp;
use memdir_providers::known_models::{self, Row, Standing};
use memdir_providers::shelf::{Kept, Listed, Shelf, ShelfError};

/// A model as it is shown.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Shown {
    pub(super) name: String,
    pub(super) title: Option<&'static str>,
    pub(super) state: State,
    pub(super) bytes: Option<u64>,
    sha256: Option<Digest>,
    pub(super) licence: Option<String>,
    million_parameters: Option<u64>,
    /// How much memory it takes while it answers: measured for what the catalogue has, else an estimate.
    pub(super) memory_bytes: Option<u64>,
    pub(super) good_for: Option<&'static str>,
    pub(super) source: Option<String>,
    pub(super) standing: Option<&'static str>,
    in_place: bool,
    added: Option<Timestamp>,
    pub(super) fetched_bytes: Option<u64>,
}

/// How it stands with a model's file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// It is there, with the size it should have.
    Ready,
    /// It can be fetched.
    #[default]
    Absent,
    /// Some of it is fetched.
    Part,
    /// It is gone from where it was.
    Missing,
    /// It has another size than it had.
    Changed,
    /// What is written down of it cannot be read.
    Broken,
}

impl Shown {
    /// All models: those of the catalogue first, then those that only the shelf has.
    pub(super) fn all(shelf: &Shelf, listed: &Listed) -> Vec<Self> {
        let part = |name: &str| listed.parts.iter().find(|(known, _)| known == name).map(|(_, bytes)| *bytes);
        let kept = |name: &str| listed.kept.iter().find(|kept| kept.name == name);
        let of_catalogue = known_models::ROWS.iter().map(|row| match kept(row.name) {
            Some(kept) => Self::kept(shelf, kept),
            None => Self { fetched_bytes: part(row.name), ..Self::row(row) }.if_fetched(),
        });
        let own = listed.kept.iter().filter(|kept| known_models::find(&kept.name).is_none());
        let parts = listed.parts.iter().filter(|(name, _)| known_models::find(name).is_none() && kept(name).is_none());
        let parts = parts.map(|(name, bytes)| Self { fetched_bytes: Some(*bytes), ..Self::named(name) }.if_fetched());
        let broken = listed.broken.iter().filter_map(|error| match error {
            ShelfError::Record { name, .. } => Some(Self { state: State::Broken, ..Self::named(name) }),
            _ => None,
        });
        of_catalogue.chain(own.map(|kept| Self::kept(shelf, kept))).chain(parts).chain(broken).collect()
    }

    /// One that is kept.
    pub(super) fn kept(shelf: &Shelf, kept: &Kept) -> Self {
        let row = known_models::of_digest(kept.digest);
        let state = match shelf.size_of(kept) {
            Some(bytes) if bytes == kept.bytes => State::Ready,
            Some(_) => State::Changed,
            None => State::Missing,
        };
        Self {
            state,
            bytes: Some(kept.bytes),
            sha256: Some(kept.digest),
            licence: kept.licence.clone(),
            memory_bytes: row.map(|row| row.memory_bytes).or(Some(estimate(kept.bytes))),
            source: Some(kept.source.clone()),
            in_place: kept.is_in_place,
            added: Some(kept.added),
            name: kept.name.clone(),
            ..row.map_or_else(|| Self::named(&kept.name), Self::row)
        }
    }

    /// One of the catalogue that is not there.
    pub(super) fn row(row: &'static Row) -> Self {
        Self {
            title: Some(row.title),
            bytes: Some(row.bytes),
            sha256: Some(row.digest),
            licence: Some(row.licence.to_owned()),
            million_parameters: Some(row.million_parameters),
            memory_bytes: Some(row.memory_bytes),
            good_for: Some(row.good_for),
            source: Some(row.source.to_owned()),
            standing: Some(match row.standing {
                Standing::Default => "default",
                Standing::Light => "light",
            }),
            ..Self::named(row.name)
        }
    }

    fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    fn if_fetched(self) -> Self {
        let state = if self.fetched_bytes.is_some() { State::Part } else { self.state };
        Self { state, ..self }
    }
}

/// About how much memory a file of this size takes: the weights, what is kept of the conversation, room to work in. More than was
/// measured for what the catalogue has.
fn estimate(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / 2).saturating_add(300_000_000)
}
