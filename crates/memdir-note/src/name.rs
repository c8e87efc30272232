//! Whether a name may be made: on every system, and beside its siblings.
//!
//! Owns what a twin is. What exists already is never asked.

use std::collections::HashMap;

use super::folded;
use super::skeleton::skeleton;
use memdir_core::path::{MemoryPath, UnportableName};

/// How a new name is too much like one that exists.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Twin {
    /// They differ in case or in Unicode form only; some systems take them for one.
    SameName,
    /// They look alike to a person.
    LookAlike,
}

/// Tells whether `name` is a twin of `sibling`, which is another name.
pub fn twin(name: &str, sibling: &str) -> Option<Twin> {
    if name == sibling {
        None
    } else if folded(name) == folded(sibling) {
        Some(Twin::SameName)
    } else if (!name.is_ascii() || !sibling.is_ascii()) && looks(name).eq(looks(sibling)) {
        // Among ASCII names the skeletons of `modem` and `modern` are the same; people tell those apart.
        Some(Twin::LookAlike)
    } else {
        None
    }
}

fn looks(name: &str) -> impl Iterator<Item = char> {
    skeleton(name).collect::<Vec<_>>().into_iter()
}

/// The twins among the names of one folder, each with the first one that it is a twin of.
pub fn twins<'n>(names: &[&'n str]) -> Vec<(&'n str, &'n str, Twin)> {
    let (mut same, mut alike) = (HashMap::new(), HashMap::<String, Vec<&str>>::new());
    let has_others = names.iter().any(|name| !name.is_ascii());
    let mut found = Vec::new();
    for name in names {
        let first = *same.entry(folded(name)).or_insert(*name);
        if first != *name {
            found.push((*name, first, Twin::SameName));
            continue;
        }
        if !has_others {
            continue;
        }
        let others = alike.entry(looks(name).collect()).or_default();
        if let Some(other) = others.iter().find(|other| !name.is_ascii() || !other.is_ascii()) {
            found.push((*name, *other, Twin::LookAlike));
        } else {
            others.push(name);
        }
    }
    found
}

/// The forms in which a name is compared with its siblings'; names without a form in common are no twins.
pub fn forms(name: &str) -> [String; 2] {
    // Not to be taken for the folded form of another name.
    [folded(name), format!("/{}", looks(name).collect::<String>())]
}

/// Checks the one component `name` as [`MemoryPath::check_portable`] does.
///
/// # Errors
///
/// [`UnportableName`], with what is wrong with it.
pub fn check_portable(name: &str) -> Result<(), UnportableName> {
    // Between two others, so that blanks at its ends are still there.
    MemoryPath::parse(&format!("x/{name}/x")).map_or(Ok(()), |path| path.check_portable())
}

/// A name that may be made, close to one that may not.
pub fn mended(name: &str) -> String {
    let mended: String = name.chars().map(|character| if is_kept(character) { character } else { '_' }).collect();
    let mended = mended.trim_matches(['.', ' ', '_']).to_owned();
    if check_portable(&mended).is_ok() && !mended.is_empty() { mended } else { format!("note_{mended}") }
}

fn is_kept(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, ' ' | '-' | '_' | '.' | '(' | ')' | ',' | '\'' | '&' | '+')
}
