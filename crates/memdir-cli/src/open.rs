//! The composition root: it finds the memory, has its folder opened, and joins vault, settings and clock to an engine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::args::Global;
use super::config::{Config, Sources};
use super::model::embedding;
use super::output::say;
use super::stop::{Stop, usage};
use memdir_core::report::{Code, ConfigKey, Failure};
use memdir_engine::{self as engine, Caller, Embeddings, Engine, IndexPlace, ReadRules};
use memdir_host::Folder;
use memdir_vault::{Durability, Options, Vault};

/// A memory, opened.
pub(super) struct Opened {
    pub(super) engine: Engine,
    pub(super) config: Config,
    pub(super) root: PathBuf,
}

/// Where the memory is, and what the person has settled for it.
pub(super) struct Located {
    pub(super) folder: Folder,
    pub(super) config: Config,
    pub(super) options: Options,
    pub(super) index: IndexPlace,
    pub(super) embeddings: Option<Embeddings>,
    /// Reads the rules again where they may be others.
    pub(super) rules: ReadRules,
    /// What models are told of the settings.
    pub(super) told: Vec<ConfigKey>,
}

/// Opens the memory that the options name.
pub(super) fn open(global: &Global) -> Result<Opened, Stop> {
    join(locate_named(global, &Sources::read()?)?)
}

/// As [`open`], for a command that reads notes: where the history cannot be used it says so and goes on.
pub(super) fn open_to_read(global: &Global) -> Result<Opened, Stop> {
    let opened = open(global)?;
    if let Some(failure) = opened.engine.history_trouble() {
        // Where that cannot be said, the notes can still be read.
        let _ = say(format!("note: {}", engine::without_history(&failure)));
    }
    Ok(opened)
}

/// As [`open`], for a process that ends with its answer.
pub(super) fn open_for_one_turn(global: &Global) -> Result<Opened, Stop> {
    let mut located = locate_named(global, &Sources::read()?)?;
    located.config.for_one_turn();
    join(located)
}

/// As [`open`], for a hook: no model is asked, what waits for the person stays as it is, another process is waited for no longer
/// than `wait`, and nothing is looked for longer than `find`.
pub(super) fn open_for_hook(global: &Global, wait: Duration, find: Duration) -> Result<Opened, Stop> {
    let mut located = locate_named(global, &Sources::read()?)?;
    located.config.for_one_turn();
    located.embeddings = None;
    located.options.lock_timeout = wait;
    let settings = engine::Settings { batch_time: find, ..settings(&located)? };
    let root = located.folder.root().to_owned();
    let (vault, config) = vault(located);
    Ok(Opened { engine: Engine::new(vault, settings), config, root })
}

/// How the engine of a located memory works.
fn settings(located: &Located) -> Result<engine::Settings, Stop> {
    Ok(engine::Settings { index: located.index.clone(), ..located.config.engine(memdir_host::now)? })
}

/// Opens the handle of the folder that the options name, for what only needs to know which memory it is.
pub(super) fn folder(global: &Global, sources: &Sources) -> Result<Folder, Stop> {
    folder_at(&named(global, sources)?)
}

fn folder_at(path: &Path) -> Result<Folder, Stop> {
    Ok(Folder::open(path).map_err(|failure| match failure.code {
        Code::NotFound => Failure::new(Code::NotFound, format!("there is no memory in {}", path.display()))
            .with_hint("`memdir init DIR` makes one, `--memory DIR` names another"),
        _ => failure,
    })?)
}

/// Opens the handle of the folder that the options name, and reads its settings.
pub(super) fn locate_named(global: &Global, sources: &Sources) -> Result<Located, Stop> {
    locate(global, sources, &named(global, sources)?)
}

/// Joins a located memory to an engine.
pub(super) fn join(located: Located) -> Result<Opened, Stop> {
    let settings = settings(&located)?;
    let Located { folder, config, options, embeddings, rules, told, .. } = located;
    let root = folder.root().to_owned();
    let engine = Engine::new(folder.into_vault(options), settings).with_rules_from(rules).telling(told);
    let engine = engine.with_sessions(memdir_agent::cut_session, memdir_agent::Session::said);
    let engine = engine.keeping_arguments(config.tools.audit_arguments);
    let engine = match embeddings {
        Some(embeddings) => engine.with_embeddings(embeddings),
        None => engine,
    };
    engine.look_after_inbox();
    Ok(Opened { engine, config, root })
}

/// The vault of a located memory.
pub(super) fn vault(located: Located) -> (Vault, Config) {
    (located.folder.into_vault(located.options), located.config)
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
pub(super) fn locate(global: &Global, sources: &Sources, path: &Path) -> Result<Located, Stop> {
    let folder = folder_at(path)?;
    let config = sources.for_memory(folder.root())?;
    let state = match &global.state {
        Some(state) => Some(state.clone()),
        None => sources.state(&config)?,
    };
    let options = folder.place_state(config.vault(), state.as_deref())?;
    let (index, embeddings) = (folder.index(), embedding::embeddings(sources, &config));
    let (rules, told) = (sources.live_rules(folder.root()), sources.told(folder.root())?);
    Ok(Located { folder, config, options, index, embeddings, rules, told })
}

/// Opens a memory that is only looked at, with an index that goes with the process, and these embeddings.
pub(super) fn in_process(global: &Global, folder: &Path, embeddings: Option<Embeddings>) -> Result<Engine, Stop> {
    let located = locate(global, &Sources::read()?, folder)?;
    Ok(join(Located { index: IndexPlace::Process, embeddings, ..located })?.engine)
}

/// Opens a copy of a memory that is thrown away afterwards: nothing is flushed, and all that is kept goes with it.
pub(super) fn thrown_away(folder: &Path) -> Result<Engine, Stop> {
    let located = locate(&Global::default(), &Sources::read()?.without_state(), folder)?;
    let options = Options { durability: Durability::Atomic, ..located.options };
    Ok(join(Located { index: IndexPlace::Process, options, ..located })?.engine)
}

/// The person, at the command line.
pub(super) fn person() -> Caller {
    Caller::person("cli")
}
