//! The composition root: the one place with ambient authority. It finds the memory, opens its handle, and joins
//! vault, settings and clock to an engine.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::args::Global;
use super::config::{Config, Sources};
use super::exit::{Stop, usage};
use super::model::embedding;
use super::term;
use crate::digest::Digest;
use crate::engine::{self, Embeddings, Engine, IndexPlace};
use crate::report::{Code, Failure};
use crate::time::Timestamp;
use crate::vault::{Author, Durability, OpenedFolder, Options, Spare, Vault};

/// A memory, opened.
pub(super) struct Opened {
    pub(super) engine: Engine,
    pub(super) config: Config,
    pub(super) root: PathBuf,
}

/// Where the memory is, and what the person has settled for it.
pub(super) struct Located {
    pub(super) root: PathBuf,
    pub(super) config: Config,
    pub(super) options: Options,
    pub(super) index: IndexPlace,
    pub(super) embeddings: Option<Embeddings>,
    dir: Dir,
}

/// Reads the clock.
#[expect(clippy::disallowed_methods, reason = "the one clock; below the edges time is a parameter")]
pub(super) fn now() -> Timestamp {
    SystemTime::now().into()
}

/// Opens the memory that the options name.
pub(super) fn open(global: &Global) -> Result<Opened, Stop> {
    join(locate_named(global)?)
}

/// As [`open`], for a command that reads notes: where the history cannot be used it says so and goes on.
pub(super) fn open_to_read(global: &Global) -> Result<Opened, Stop> {
    let opened = open(global)?;
    if let Some(failure) = opened.engine.history_trouble() {
        // Where that cannot be said, the notes can still be read.
        let _ = writeln!(io::stderr(), "note: {}", term::escape_line(&engine::without_history(&failure)));
    }
    Ok(opened)
}

/// As [`open`], for a process that answers a single turn.
pub(super) fn open_for_one_turn(global: &Global) -> Result<Opened, Stop> {
    let mut located = locate_named(global)?;
    located.config.for_one_turn();
    join(located)
}

fn locate_named(global: &Global) -> Result<Located, Stop> {
    let sources = Sources::read()?;
    let folder = named(global, &sources)?;
    locate(global, &sources, &folder)
}

/// Joins a located memory to an engine.
pub(super) fn join(mut located: Located) -> Result<Opened, Stop> {
    let settings = engine::Settings { index: located.index.clone(), ..located.config.engine(now)? };
    let (root, embeddings) = (located.root.clone(), located.embeddings.take());
    let (vault, config) = vault(located);
    let engine = Engine::new(vault, settings);
    let engine = match embeddings {
        Some(embeddings) => engine.with_embeddings(embeddings),
        None => engine,
    };
    engine.look_after_inbox();
    Ok(Opened { engine, config, root })
}

/// The vault of a located memory.
pub(super) fn vault(located: Located) -> (Vault, Config) {
    (Vault::new(located.dir, located.root, located.options), located.config)
}

/// The folder that the options, the environment or the settings name; not yet looked at.
pub(super) fn named(global: &Global, sources: &Sources) -> Result<PathBuf, Stop> {
    let folder = global.memory.clone().or_else(|| sources.default_memory());
    let folder = folder.ok_or_else(|| usage("no memory is named", "give `--memory DIR`"))?;
    if folder.as_os_str().is_empty() {
        return Err(usage("the memory's name is empty", "give `--memory DIR`").into());
    }
    Ok(folder)
}

/// Opens the handle of the folder and reads its settings.
///
/// The root of a file system and a home folder itself are refused: a memory is a folder of notes, and what it holds
/// can be changed and deleted.
pub(super) fn locate(global: &Global, sources: &Sources, folder: &Path) -> Result<Located, Stop> {
    let root = canonical(folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::new(Code::NotFound, "the memory does not exist")
            .with_hint("`memdir init DIR` makes one, `--memory DIR` names another"),
        kind => Failure::new(Code::Io, format!("the memory cannot be opened: {kind}")),
    })?;
    let is_home = sources.home().is_some_and(|home| canonical(home).is_ok_and(|home| home == root));
    if root.parent().is_none() || is_home {
        let what = if is_home { "a home folder" } else { "the root of a file system" };
        return Err(usage(format!("{what} cannot be a memory"), "name a folder that holds only notes").into());
    }
    let dir = open_dir(&root).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotADirectory => Failure::new(Code::NotADirectory, "the memory is not a folder"),
        kind => Failure::new(Code::Io, format!("the memory cannot be opened: {kind}")),
    })?;
    let config = sources.for_memory(&root)?;
    let mut options = config.vault(machine());
    let state = match &global.state {
        Some(state) => Some(state.clone()),
        None => sources.state(&config)?,
    };
    place_state(state.as_deref(), sources, &root, &dir, &mut options)?;
    let index = match sources.cache_folder().map(|base| base.join(name_of(&root)).join("index.sqlite")) {
        Some(file) if !place_of(&file).starts_with(&root) => IndexPlace::File(file),
        Some(_) | None => IndexPlace::Process,
    };
    let embeddings = embedding::embeddings(sources, &config);
    Ok(Located { root, config, options, dir, index, embeddings })
}

/// Where a path leads whose end need not be there yet.
fn place_of(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| Some((above, canonical(above).ok()?)));
    let place = there.and_then(|(above, place)| Some(place.join(path.strip_prefix(above).ok()?)));
    place.unwrap_or_else(|| path.to_owned())
}

/// Opens a memory that is only looked at, with an index that goes with the process, and these embeddings.
pub(super) fn in_process(global: &Global, folder: &Path, embeddings: Option<Embeddings>) -> Result<Engine, Stop> {
    let located = locate(global, &Sources::read()?, folder)?;
    Ok(join(Located { index: IndexPlace::Process, embeddings, ..located })?.engine)
}

/// Opens a copy of a memory that is thrown away afterwards: nothing is flushed, and all that is kept goes with it.
pub(super) fn thrown_away(folder: &Path) -> Result<Engine, Stop> {
    let nowhere = Global { memory: None, json: false, state: None, log: None };
    let located = locate(&nowhere, &Sources::read()?.without_state(), folder)?;
    let options = Options { durability: Durability::Atomic, ..located.options };
    Ok(join(Located { index: IndexPlace::Process, options, ..located })?.engine)
}

/// Says where the state of a memory is: where the person wants it, else in the memory, unless it went to a folder of the
/// person's, or has to go there, since the memory's drive cannot hold it. That is tried when the state is made.
fn place_state(
    state: Option<&Path>,
    sources: &Sources,
    root: &Path,
    dir: &Dir,
    options: &mut Options,
) -> Result<(), Failure> {
    // Each memory has a folder of its own there: a journal belongs to one memory.
    let spare =
        sources.state_folder().map(|base| base.join(name_of(root))).filter(|path| !place_of(path).starts_with(root));
    let database = Path::new(".memdir").join(&options.machine).join("history.sqlite");
    let is_here = dir.symlink_metadata(database).is_ok_and(|found| found.len() > 0);
    let used = match state {
        Some(base) => Some(base.join(name_of(root))),
        None => spare.clone().filter(|path| !is_here && canonical(path).is_ok()),
    };
    let Some(path) = used else {
        options.spare = spare.map(|path| Spare { path, make: open_made });
        return Ok(());
    };
    let path = make_folder(&path)
        .map_err(|error| usage(format!("the folder for state cannot be made: {}", error.kind()), "name another"))?;
    if path.starts_with(root) {
        return Err(usage("the folder for state is inside the memory", "name one outside of it"));
    }
    options.state = Some(open_made(&path).map_err(|error| Failure::new(Code::Io, error.kind().to_string()))?);
    Ok(())
}

/// Makes a folder and opens it.
fn open_made(path: &Path) -> std::io::Result<OpenedFolder> {
    let path = make_folder(path)?;
    Ok((Arc::new(open_dir(&path)?), path))
}

/// The first 16 hex digits of the digest over a path.
pub(super) fn name_of(path: &Path) -> String {
    let digest = Digest::of(path.as_os_str().as_encoded_bytes()).to_string();
    digest.trim_start_matches("sha256:").chars().take(16).collect()
}

/// Who asks at the door `door`.
pub(super) fn author(door: &str, client: Option<String>, origin: &str) -> Author {
    Author { door: door.to_owned(), client, session: None, message: None, origin: origin.to_owned() }
}

/// Makes a folder and those above it, and gives its canonical path.
#[expect(clippy::disallowed_methods, reason = "the person names this folder on the command line")]
pub(super) fn make_folder(path: &Path) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(path)?;
    std::fs::canonicalize(path)
}

#[expect(clippy::disallowed_methods, reason = "the memory's path is resolved once; SQLite refuses links in it later")]
pub(super) fn canonical(path: &Path) -> std::io::Result<PathBuf> {
    std::fs::canonicalize(path)
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
    let digest = Digest::of_parts(&[id.as_bytes(), user.as_bytes()]).to_string();
    digest.trim_start_matches("sha256:").chars().take(16).collect()
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
