//! Where assistants keep their files on this machine.

use std::path::{Path, PathBuf};

use memdir_core::report::{Code, Failure};

/// A folder of the machine in which paths of the table begin.
#[derive(Clone, Copy, Debug)]
pub(super) enum Base {
    /// The home folder.
    Home,
    /// `XDG_CONFIG_HOME` or `~/.config`, on every system.
    DotConfig,
    /// Where programs with windows keep their settings on this system.
    Settings,
}

/// Where a file is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Variables that name a folder, and the file's path in it; the first that is set counts.
    pub(super) variables: &'static [(&'static str, &'static str)],
    /// Else the first of these that is there; else the first whose folder is; else the first.
    pub(super) files: &'static [(Base, &'static str)],
}

/// A folder and a path with `/` in it.
fn below(folder: PathBuf, path: &str) -> PathBuf {
    path.split('/').fold(folder, |folder, name| folder.join(name))
}

/// The path of a row of the table.
pub(super) fn path((base, path): (Base, &str)) -> Option<PathBuf> {
    let folder = match base {
        Base::Home => memdir_host::home(),
        Base::DotConfig => memdir_host::dot_config(),
        Base::Settings => memdir_host::settings_folder(),
    };
    folder.map(|folder| below(folder, path))
}

impl Place {
    /// The folder that a variable names for the file.
    fn named(&self) -> Option<(PathBuf, &'static str)> {
        self.variables.iter().find_map(|(name, path)| Some((memdir_host::named_folder(name)?, *path)))
    }

    /// The file; it need not be there.
    pub(super) fn file(&self) -> Result<PathBuf, Failure> {
        if let Some((folder, path)) = self.named() {
            return Ok(below(folder, path));
        }
        let all: Vec<PathBuf> = self.files.iter().filter_map(|row| path(*row)).collect();
        let is_folder_there = |file: &&PathBuf| file.parent().is_some_and(Path::is_dir);
        let file = all.iter().find(|file| file.is_file()).or_else(|| all.iter().find(is_folder_there));
        let file = file.or_else(|| all.first()).cloned();
        file.ok_or_else(|| Failure::new(Code::Config, "this system names no home folder").with_hint("set `HOME`"))
    }

    /// Whether the file is there, or the folder that a variable names for it.
    pub(super) fn is_used(&self) -> bool {
        self.named().is_some_and(|(folder, _)| folder.is_dir()) || self.file().is_ok_and(|file| file.is_file())
    }
}

/// The first file or folder that a path with `*` for a whole name leads to; of a folder, only one that holds something.
pub(super) fn first_match(pattern: &Path) -> Option<PathBuf> {
    let star = pattern.ancestors().find(|above| above.file_name().is_some_and(|name| name == "*"));
    let Some((star, above)) = star.and_then(|star| Some((star, star.parent()?))) else {
        let is_there = if pattern.is_dir() { !names_in(pattern).is_empty() } else { pattern.is_file() };
        return is_there.then(|| pattern.to_owned());
    };
    let rest = pattern.strip_prefix(star).ok()?;
    names_in(above).into_iter().find_map(|folder| first_match(&folder.join(rest)))
}

/// What is in a folder, in order; nothing where it cannot be read.
#[expect(clippy::disallowed_methods, reason = "folders of other programs, outside every memory")]
pub(super) fn names_in(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    all.sort();
    all
}
