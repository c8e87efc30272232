//! [`Glob`]: which paths a rule is about.
//!
//! Owns the grammar of the `path` of a rule and its matching. Both work by keeping the set of places in the glob that
//! the path could have reached, so the time is the product of the two lengths at worst, whatever is written.

use unicode_normalization::UnicodeNormalization;

use memdir_core::path::MemoryPath;

/// What is wrong with a glob.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum GlobError {
    /// Nothing is left between the slashes.
    #[error("is empty")]
    Empty,
    /// It starts with a slash, or has a component that starts with a dot: no path of an action does.
    #[error("can match no path of the memory")]
    Unreachable,
    /// It has a character that is special elsewhere and would match only itself here.
    #[error("has `{0}`: only `*`, `**` and `?` are special, and `?` stands for any one character")]
    Character(char),
    /// A `**` is not a whole component.
    #[error("has `**` beside other characters: it stands alone between slashes")]
    Stars,
}

/// A pattern over the components of a path: `*` and `?` within one, `**` for any number of them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Glob(Vec<Component>);

#[derive(Clone, Debug, Eq, PartialEq)]
enum Component {
    /// `**`: any number of components, none among them.
    Any,
    /// One component, as the characters of its pattern.
    One(Forms),
}

/// One component in the forms by which disks compare names.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Forms {
    /// As it is written.
    exact: Vec<char>,
    /// With each letter and its marks as one character.
    composed: Vec<char>,
    /// The same without upper case; a letter may have become two.
    folded: Vec<char>,
}

/// Which names count as the same.
#[derive(Clone, Copy)]
enum Same {
    /// Those that are written alike.
    Exact,
    /// Those that some disk takes for the same: in any case, in any Unicode form.
    Any,
}

impl Glob {
    /// Reads a glob; a `/` at its end means all that lies below.
    pub(super) fn parse(text: &str) -> Result<Self, GlobError> {
        if text.starts_with('/') {
            return Err(GlobError::Unreachable);
        }
        if let Some(found) = text.chars().find(|&c| matches!(c, '[' | ']' | '{' | '}' | '\\') || c.is_control()) {
            return Err(GlobError::Character(found));
        }
        let mut components = Vec::new();
        for component in text.split('/').filter(|component| !component.is_empty()) {
            components.push(match component {
                "**" => Component::Any,
                _ if component.contains("**") => return Err(GlobError::Stars),
                _ if component.starts_with('.') => return Err(GlobError::Unreachable),
                _ => Component::One(Forms::of(component)),
            });
        }
        if components.is_empty() {
            return Err(GlobError::Empty);
        }
        if text.ends_with('/') {
            components.push(Component::Any);
        }
        Ok(Self(components))
    }

    /// Whether this is the glob of `path` as it is written.
    pub(super) fn matches(&self, path: &MemoryPath) -> bool {
        self.walk(path, Same::Exact).last() == Some(&true)
    }

    /// Whether this could be the glob of `path` on a disk that does not tell upper from lower case, or Unicode forms.
    pub(super) fn matches_any_form(&self, path: &MemoryPath) -> bool {
        self.walk(path, Same::Any).last() == Some(&true)
    }

    /// Whether this is the glob of something that could stand in the folder `path`, as both are written.
    pub(super) fn leads_below(&self, path: &MemoryPath) -> bool {
        self.goes_on(0, &self.walk(path, Same::Exact))
    }

    /// Whether this is the glob of all that could ever stand in the folder `path`, as both are written.
    pub(super) fn covers_below(&self, path: &MemoryPath) -> bool {
        let places = self.walk(path, Same::Exact);
        let covers = |(at, is_reached): (usize, &bool)| *is_reached && self.0.get(at..).is_some_and(fits_all);
        places.iter().enumerate().any(covers)
    }

    /// Whether this is the glob of every path.
    pub(super) fn is_everything(&self) -> bool {
        self.0.iter().all(|component| matches!(component, Component::Any))
    }

    /// Whether this could be the glob of something that stands in the folder `path`, in any case and form.
    pub(super) fn reaches_below(&self, path: &MemoryPath) -> bool {
        self.reaches_from(0, path)
    }

    /// Whether moving `path` away, if it is a folder, could take something from under the glob.
    ///
    /// What only a `**` at the start leads through is under the glob wherever it is moved.
    pub(super) fn loses_below(&self, path: &MemoryPath) -> bool {
        let leading = self.0.iter().take_while(|component| matches!(component, Component::Any)).count();
        self.reaches_from(if leading == 0 { 0 } else { leading + 1 }, path)
    }

    /// Whether the places from this one on, to which `path` leads, have something behind them.
    fn reaches_from(&self, first: usize, path: &MemoryPath) -> bool {
        self.goes_on(first, &self.walk(path, Same::Any))
    }

    /// Whether one of these places, from the first that counts, has something behind it.
    fn goes_on(&self, first: usize, places: &[bool]) -> bool {
        let ends_in_any = matches!(self.0.last(), Some(Component::Any));
        let within = places.get(first..self.0.len()).unwrap_or_default();
        within.contains(&true) || (ends_in_any && places.last() == Some(&true))
    }

    /// The places before, between and after the components of the glob that all of `path` can lead to.
    fn walk(&self, path: &MemoryPath, same: Same) -> Vec<bool> {
        let mut places = vec![false; self.0.len() + 1];
        if let Some(first) = places.first_mut() {
            *first = true;
        }
        self.skip_any(&mut places);
        for name in path.components() {
            let name = match same {
                Same::Exact => Forms::exact(name),
                Same::Any => Forms::of(name),
            };
            let mut next = vec![false; places.len()];
            for (at, component) in self.0.iter().enumerate().filter(|(at, _)| places.get(*at) == Some(&true)) {
                let to = match component {
                    Component::Any => at,
                    Component::One(pattern) if pattern.fits(&name, same) => at + 1,
                    Component::One(_) => continue,
                };
                if let Some(place) = next.get_mut(to) {
                    *place = true;
                }
            }
            self.skip_any(&mut next);
            places = next;
        }
        places
    }

    /// A `**` may stand for nothing, so a place before it reaches the place behind it too.
    fn skip_any(&self, places: &mut [bool]) {
        let mut before = false;
        for (at, place) in places.iter_mut().enumerate() {
            let behind_any = at > 0 && matches!(self.0.get(at - 1), Some(Component::Any));
            *place |= behind_any && before;
            before = *place;
        }
    }
}

/// Whether all names fit, however many come after each other, from one on.
fn fits_all(rest: &[Component]) -> bool {
    let mut names = 0;
    let mut has_any = false;
    for component in rest {
        match component {
            Component::Any => has_any = true,
            Component::One(pattern) if pattern.is_any_name() => names += 1,
            Component::One(_) => return false,
        }
    }
    has_any && names <= 1
}

impl Forms {
    /// A name that is compared as it is written alone.
    fn exact(text: &str) -> Self {
        Self { exact: text.chars().collect(), composed: Vec::new(), folded: Vec::new() }
    }

    /// Whether every name fits this pattern.
    fn is_any_name(&self) -> bool {
        self.exact.iter().all(|character| *character == '*')
    }

    fn of(text: &str) -> Self {
        let folded = caseless::default_case_fold_str(&text.nfd().collect::<String>());
        Self { exact: text.chars().collect(), composed: text.nfc().collect(), folded: folded.nfc().collect() }
    }

    /// Whether a name fits this pattern; `?` stands for one character in any form.
    fn fits(&self, name: &Self, same: Same) -> bool {
        let is_exact = fits(&self.exact, &name.exact, |one, other| one == other);
        match same {
            Same::Exact => is_exact,
            Same::Any => {
                is_exact
                    || fits(&self.composed, &name.composed, same_letter)
                    || fits(&self.folded, &name.folded, |one, other| one == other)
            }
        }
    }
}

/// Whether one component fits its pattern: the last `*` takes one character more each time the rest does not fit.
fn fits(pattern: &[char], name: &[char], same: fn(char, char) -> bool) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut retry = None;
    while let Some(&character) = name.get(seen) {
        match pattern.get(at) {
            Some('*') => {
                retry = Some((at + 1, seen));
                at += 1;
            }
            Some(&wanted) if wanted == '?' || same(wanted, character) => {
                at += 1;
                seen += 1;
            }
            _ => {
                let Some((behind_star, taken)) = retry else { return false };
                retry = Some((behind_star, taken + 1));
                (at, seen) = (behind_star, taken + 1);
            }
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|character| *character == '*'))
}

fn same_letter(one: char, other: char) -> bool {
    one == other || one.to_lowercase().eq(other.to_lowercase())
}
