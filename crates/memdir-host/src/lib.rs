//! What memdir takes from the machine it runs on: the handle on a folder, the folders for state and caches, the name
//! under which this machine and user keep their state, the clock.
//!
//! Every program that opens a memory starts here. It is the one crate with ambient authority: everything below works
//! through the handle that [`Folder::open`] gives away.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use etcetera::BaseStrategy;

use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;
use memdir_engine::IndexPlace;
use memdir_vault::{OpenedFolder, Options, Spare, Vault};

/// The folder of a memory, opened.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    dir: Dir,
}

impl Folder {
    /// Opens the folder at `path`.
    ///
    /// # Errors
    ///
    /// `not_found`, `not_a_directory` or `io`; `usage` for the root of a file system and for a home folder itself, since a memory
    /// can be changed and deleted.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let root = canonical(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Failure::new(Code::NotFound, "the memory does not exist")
                .with_hint("make the folder first, or name another"),
            kind => Failure::new(Code::Io, format!("the memory cannot be opened: {kind}")),
        })?;
        let is_home = home().is_some_and(|home| canonical(&home).is_ok_and(|home| home == root));
        if root.parent().is_none() || is_home {
            let what = if is_home { "a home folder" } else { "the root of a file system" };
            return Err(Failure::new(Code::Usage, format!("{what} cannot be a memory"))
                .with_hint("name a folder that holds only notes"));
        }
        let dir = open_dir(&root).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotADirectory => Failure::new(Code::NotADirectory, "the memory is not a folder")
                .with_hint("name the folder that holds the notes"),
            kind => Failure::new(Code::Io, format!("the memory cannot be opened: {kind}")),
        })?;
        Ok(Self { root, dir })
    }

    /// The canonical path.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether there is a folder of this name in it.
    #[must_use]
    pub fn has_folder(&self, path: &str) -> bool {
        self.dir.is_dir(path)
    }

    /// The file of the index: below the user's cache folder, so that all programs that open this memory share one. It
    /// goes with the process where there is no cache folder, or that folder lies in the memory.
    #[must_use]
    pub fn index(&self) -> IndexPlace {
        match cache_folder().map(|base| base.join(name_of(&self.root)).join("index.sqlite")) {
            Some(file) if !place_of(&file).starts_with(&self.root) => IndexPlace::File(file),
            Some(_) | None => IndexPlace::Process,
        }
    }

    /// Completes the options of a vault on this folder: the name of this machine's and user's state, and where its state is kept.
    ///
    /// The state goes below `state` where that is given, each memory in a folder of its own; a relative path begins in the current
    /// folder. Otherwise it is kept in the memory, unless it went to the user's state folder before, or has to go there because
    /// the memory's drive cannot hold it; that is tried when the state is first written.
    ///
    /// # Errors
    ///
    /// `usage` where `state` cannot be made or lies in the memory; `io`.
    pub fn place_state(&self, options: Options, state: Option<&Path>) -> Result<Options, Failure> {
        let mut options = Options { machine: machine(), ..options };
        let spare = state_folder().map(|base| base.join(name_of(&self.root)));
        let spare = spare.filter(|path| !place_of(path).starts_with(&self.root));
        let database = Path::new(".memdir").join(&options.machine).join("history.sqlite");
        let is_here = self.dir.symlink_metadata(database).is_ok_and(|found| found.len() > 0);
        let used = match state {
            Some(base) => Some(base.join(name_of(&self.root))),
            None => spare.clone().filter(|path| !is_here && canonical(path).is_ok()),
        };
        match used {
            Some(path) => options.state = Some(self.open_state(&path)?),
            None => options.spare = spare.map(|path| Spare { path, make: open_made }),
        }
        Ok(options)
    }

    /// The vault on this folder, with options that [`Folder::place_state`] has completed.
    #[must_use]
    pub fn into_vault(self, options: Options) -> Vault {
        Vault::new(self.dir, self.root, options)
    }

    fn open_state(&self, path: &Path) -> Result<OpenedFolder, Failure> {
        let wrong = |error: std::io::Error| {
            let message = format!("the folder for state cannot be made: {}", error.kind());
            Failure::new(Code::Usage, message).with_hint("name another")
        };
        let check = |path: PathBuf| {
            let inside = Failure::new(Code::Usage, "the folder for state is inside the memory");
            if path.starts_with(&self.root) { Err(inside.with_hint("name one outside of it")) } else { Ok(path) }
        };
        let path = check(place_of(&std::path::absolute(path).map_err(wrong)?))?;
        // A `..` behind a folder that was not there may lead elsewhere now.
        let path = check(make_folder(&path).map_err(wrong)?)?;
        open_made(&path).map_err(|error| Failure::new(Code::Io, error.kind().to_string()))
    }
}

/// Reads the clock.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one clock; everywhere else time is a parameter")]
pub fn now() -> Timestamp {
    SystemTime::now().into()
}

/// The user's home folder.
#[must_use]
pub fn home() -> Option<PathBuf> {
    absolute(etcetera::home_dir().ok())
}

/// The folder of memdir's settings.
#[must_use]
pub fn config_folder() -> Option<PathBuf> {
    absolute(folders().map(|folders| folders.config_dir().join("memdir")))
}

/// Where the state of memories goes that cannot hold it themselves.
#[must_use]
pub fn state_folder() -> Option<PathBuf> {
    absolute(folders().map(|folders| folders.state_dir().unwrap_or_else(|| folders.data_dir()).join("memdir")))
}

/// Where files are kept that are worth keeping, such as models.
#[must_use]
pub fn data_folder() -> Option<PathBuf> {
    absolute(folders().map(|folders| folders.data_dir().join("memdir")))
}

/// Where files are kept that can be made again.
#[must_use]
pub fn cache_folder() -> Option<PathBuf> {
    absolute(folders().map(|folders| folders.cache_dir().join("memdir")))
}

/// `XDG_CONFIG_HOME`, or `.config` in the home folder, on every system: where many programs look whatever the system says.
#[must_use]
pub fn dot_config() -> Option<PathBuf> {
    named_folder("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")))
}

/// Where programs with windows keep their settings on this system.
#[must_use]
pub fn settings_folder() -> Option<PathBuf> {
    match std::env::consts::OS {
        "windows" => named_folder("APPDATA").or_else(|| Some(home()?.join("AppData").join("Roaming"))),
        "macos" => Some(home()?.join("Library").join("Application Support")),
        _ => dot_config(),
    }
}

/// The folder that a variable of the environment names.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "folders of the machine are found here")]
pub fn named_folder(variable: &str) -> Option<PathBuf> {
    absolute(std::env::var_os(variable).map(PathBuf::from))
}

/// The program of this name that a shell would start.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "programs of the machine are found here")]
pub fn program_named(name: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let endings: &[&str] = if cfg!(windows) { &["exe", "cmd"] } else { &[""] };
    let mut all = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).flat_map(|folder| {
        endings.iter().map(
            move |ending| if ending.is_empty() { folder.join(name) } else { folder.join(name).with_extension(ending) },
        )
    });
    all.find(|path| path.is_file())
}

/// Where memdir itself is, as it was called: links stay, so an upgrade that moves what they lead to breaks nothing.
///
/// # Errors
///
/// Those of the system, where it does not tell.
pub fn own_program() -> std::io::Result<PathBuf> {
    let real = std::env::current_exe()?;
    let called = std::env::args_os().next().map(PathBuf::from).and_then(|called| match called.components().count() {
        1 => program_named(&called),
        _ => std::path::absolute(called).ok(),
    });
    // Whoever starts a program may call it anything.
    let is_this =
        |called: &PathBuf| matches!((canonical(called), canonical(&real)), (Ok(called), Ok(real)) if called == real);
    Ok(called.filter(is_this).unwrap_or(real))
}

/// The user's folders by the rules of the system.
fn folders() -> Option<impl BaseStrategy> {
    etcetera::choose_base_strategy().ok()
}

/// A folder, if it is the same wherever a command is called. A relative one, as a relative `HOME` makes it, would lie in
/// the current folder, perhaps in the memory itself.
fn absolute(folder: Option<PathBuf>) -> Option<PathBuf> {
    folder.filter(|folder| folder.is_absolute())
}

/// The name of a memory's own folder among those of others: the first 16 hex digits of the digest over its path.
#[must_use]
pub fn name_of(root: &Path) -> String {
    short(Digest::of(root.as_os_str().as_encoded_bytes()))
}

/// Makes a folder and those above it, and gives its canonical path.
///
/// # Errors
///
/// Those of the file system.
#[expect(clippy::disallowed_methods, reason = "a folder that the person or the program names, outside every memory")]
pub fn make_folder(path: &Path) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(path)?;
    std::fs::canonicalize(path)
}

/// The path that `path` leads to.
///
/// # Errors
///
/// Those of the file system.
#[expect(clippy::disallowed_methods, reason = "the memory's path is resolved once; SQLite refuses links in it later")]
pub fn canonical(path: &Path) -> std::io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// Where a path leads whose end need not be there yet.
fn place_of(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| Some((above, canonical(above).ok()?)));
    let place = there.and_then(|(above, place)| Some(place.join(path.strip_prefix(above).ok()?)));
    place.unwrap_or_else(|| path.to_owned())
}

/// Makes a folder and opens it.
fn open_made(path: &Path) -> std::io::Result<OpenedFolder> {
    let path = make_folder(path)?;
    Ok((Arc::new(open_dir(&path)?), path))
}

#[expect(clippy::disallowed_methods, reason = "the one use of ambient authority")]
fn open_dir(path: &Path) -> std::io::Result<Dir> {
    Dir::open_ambient_dir(path, ambient_authority())
}

/// Names this machine and user, so that two machines that share a folder never write one database.
///
/// The first 16 hex digits of the digest over the system's machine id and the user's id; `local` where there is none.
#[expect(clippy::disallowed_methods, reason = "the machine id is a file of the system's")]
fn machine() -> String {
    let id = ["/etc/machine-id", "/var/lib/dbus/machine-id"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok())
        .map(|id| id.trim().to_owned())
        .filter(|id| !id.is_empty());
    let Some(id) = id else { return "local".to_owned() };
    #[cfg(unix)]
    let user = rustix::process::getuid().as_raw().to_string();
    #[cfg(not(unix))]
    let user = String::new();
    short(Digest::of_parts(&[id.as_bytes(), user.as_bytes()]))
}

fn short(digest: Digest) -> String {
    digest.to_string().trim_start_matches("sha256:").chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "tests make folders and links as a person does")]

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_link_on_the_way_to_the_cache_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let root = canonical(folder.path()).unwrap();
        std::fs::create_dir(root.join("memory")).unwrap();
        std::os::unix::fs::symlink("memory", root.join(".cache")).unwrap();
        let place = place_of(&root.join(".cache/memdir/0123/index.sqlite"));
        assert_eq!(place, root.join("memory/memdir/0123/index.sqlite"));
        assert_eq!(place_of(Path::new("/not there/index.sqlite")), Path::new("/not there/index.sqlite"));
    }
}
