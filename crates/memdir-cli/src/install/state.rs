//! Which assistants are here, and how each stands to memdir. Nothing is changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::assistants::{ASSISTANTS, Assistant, Loading, OTHER_MEMORIES, OwnMemory};
use super::change::{Format, State};
use super::disk::Target;
use super::edit::FOREIGN;
use super::{CLIENT, Entry, MEMORY, option, servers};
use super::{json, toml};
use crate::client;
use memdir_core::shell::quoted;
use memdir_host::Folder;

/// The assistants that this person uses here.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Here {
    /// Those that start memdir.
    pub(crate) set_up: Vec<&'static str>,
    /// Those that do not.
    pub(crate) others: Vec<&'static str>,
    /// Those whose entry starts something else, or does not start memdir as it stands, with what is so.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) faults: BTreeMap<&'static str, String>,
}

impl Here {
    pub(super) fn is_empty(&self) -> bool {
        self.set_up.is_empty() && self.others.is_empty() && self.faults.is_empty()
    }
}

/// How an assistant stands to memdir.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) name: &'static str,
    assistant: &'static Assistant,
    /// What it starts; `None` where it does not start memdir.
    server: Option<Server>,
    /// Whether it has an entry of our name that is not ours.
    is_foreign: bool,
    /// Whether our plugin is on.
    pub(crate) has_plugin: bool,
    /// Whether it has our hooks, for those that can have some.
    pub(crate) hooks: Option<bool>,
    /// Whether its settings turn all hooks off.
    pub(crate) are_hooks_off: bool,
}

#[derive(Debug)]
struct Server {
    entry: Entry,
    is_off: bool,
    loaded: Loaded,
}

/// Whether a model sees the tools without searching for them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Loaded {
    Yes,
    /// An entry that `install` would complete.
    NotYet,
    /// The person's own entry says otherwise.
    TurnedOff,
    /// The program has all models search.
    Searched,
    Undecided,
}

/// What is ours in a file, as far as it can be read.
fn state(path: Result<PathBuf, impl Sized>, format: &Format) -> State {
    let target = path.ok().and_then(|path| Target::read(&path).ok());
    let state = target.and_then(|target| format.state(target.text.as_deref()?).ok());
    state.unwrap_or(State::Absent)
}

/// Whether an assistant has hooks of ours.
pub(super) fn has_hooks(assistant: &Assistant) -> bool {
    let hooks = assistant.hooks.as_ref();
    hooks.is_some_and(|(place, form)| state(place.file(), &Format::Hooks(*form)) != State::Absent)
}

/// What our entry of an assistant says behind `mcp`; where there is none, what its hooks say.
pub(super) fn kept_args(assistant: &Assistant) -> Vec<String> {
    match state(assistant.servers.file(), &assistant.format) {
        State::Ours { entry, .. } => entry.args.into_iter().skip(1).collect(),
        State::Absent | State::Foreign => hook_args(assistant),
    }
}

/// What our hooks of an assistant say behind its name.
pub(super) fn hook_args(assistant: &Assistant) -> Vec<String> {
    let hooks = assistant.hooks.as_ref().map(|(place, form)| state(place.file(), &Format::Hooks(*form)));
    match hooks {
        Some(State::Ours { entry, .. }) => entry.args.into_iter().skip(2).collect(),
        _ => Vec::new(),
    }
}

/// Whether the settings that hold its hooks turn all of them off, as those of Claude Code can.
fn are_hooks_off(assistant: &Assistant) -> bool {
    let Some((place, _)) = &assistant.hooks else { return false };
    let target = place.file().ok().and_then(|path| Target::read(&path).ok());
    json::is_on(&target.and_then(|target| target.text).unwrap_or_default(), &["disableAllHooks"])
}

/// Whether an assistant has our plugin on.
fn has_plugin(assistant: &Assistant) -> bool {
    let Some((place, names)) = &assistant.plugin else { return false };
    let target = place.file().ok().and_then(|path| Target::read(&path).ok());
    let text = target.and_then(|target| target.text).unwrap_or_default();
    json::is_on(&text, names) || toml::is_on(&text, names)
}

/// Looks for assistants, and for memdir in their configuration.
pub(crate) fn look() -> Vec<Connection> {
    let here = ASSISTANTS.iter().filter(|assistant| assistant.is_here());
    here.map(|assistant| {
        let state = state(assistant.servers.file(), &assistant.format);
        let is_foreign = state == State::Foreign;
        let server = match state {
            State::Ours { entry, is_whole } => {
                Some(Server { entry, is_off: servers::is_off(assistant), loaded: loaded(assistant, is_whole) })
            }
            State::Absent | State::Foreign => None,
        };
        let hooks = assistant.hooks.as_ref().map(|_| has_hooks(assistant));
        Connection {
            name: assistant.name,
            assistant,
            server,
            is_foreign,
            has_plugin: has_plugin(assistant),
            hooks,
            are_hooks_off: are_hooks_off(assistant),
        }
    })
    .collect()
}

fn loaded(assistant: &Assistant, is_whole: bool) -> Loaded {
    match assistant.loading {
        Loading::Always => Loaded::Yes,
        Loading::Searched => Loaded::Searched,
        Loading::Undecided => Loaded::Undecided,
        Loading::ByKey if !is_whole => Loaded::NotYet,
        Loading::ByKey => {
            let Format::Json(form) = &assistant.format else { return Loaded::Yes };
            let target = assistant.servers.file().ok().and_then(|path| Target::read(&path).ok());
            let text = target.and_then(|target| target.text).unwrap_or_default();
            if form.differs(text.trim_start_matches('\u{feff}')) { Loaded::TurnedOff } else { Loaded::Yes }
        }
    }
}

impl Connection {
    pub(super) fn assistant(&self) -> &'static Assistant {
        self.assistant
    }

    /// Why it does not start memdir on the memory at `root` though it has an entry of our name, with what helps. Where no memory is
    /// given, the one that the entry names counts.
    pub(crate) fn fault(&self, root: Option<&Path>) -> Option<(String, Option<String>)> {
        if self.has_plugin {
            return None;
        }
        let name = self.name;
        let Some(Server { entry: Entry { command, args }, is_off, .. }) = &self.server else {
            return self.is_foreign.then(|| (FOREIGN.to_owned(), None));
        };
        if *is_off {
            return Some(("its entry for memdir is switched off".to_owned(), Some(format!("switch it on in {name}"))));
        }
        let is_there = match command.contains(std::path::is_separator) {
            true => Path::new(command).is_file(),
            false => memdir_host::program_named(command.as_ref()).is_some(),
        };
        let anew = format!("`memdir install {name}` writes it anew");
        if !is_there {
            return Some((format!("its entry starts {command}, and there is no such program"), Some(anew)));
        }
        // Without the option it is the one that is used here too.
        let named = option(args, MEMORY).map(PathBuf::from);
        let memory = match &named {
            Some(path) => match Folder::open(path) {
                Ok(folder) => folder.root().to_owned(),
                Err(_) => {
                    let hint = format!("`memdir install {name} --memory DIR` names another one");
                    return Some((
                        format!("its entry is for a memory that is not there: {}", path.display()),
                        Some(hint),
                    ));
                }
            },
            None => root?.to_owned(),
        };
        if let Some(root) = root.filter(|root| *root != memory) {
            let root = quoted(&root.to_string_lossy());
            let hint = format!("`memdir install {name} --memory {root}` makes it this one");
            return Some((format!("starts memdir on another memory: {}", memory.display()), Some(hint)));
        }
        let client = option(args, CLIENT)?;
        let failure = client::register(&memory, Some(&client), memdir_host::now).err()?;
        Some((format!("its entry names a client that cannot be used: {}", failure.message), failure.hint))
    }

    /// Whether the assistant has what starts memdir, whatever is wrong with it.
    pub(crate) fn is_set_up(&self) -> bool {
        self.server.is_some() || self.has_plugin
    }

    /// Whether a model sees the tools of the entry; `None` where there is no entry.
    pub(crate) fn loaded(&self) -> Option<Loaded> {
        self.server.as_ref().map(|server| server.loaded)
    }

    /// Whether a client of this name is this assistant: by the name that it says, or the one that it is started under.
    pub(crate) fn is_client(&self, name: &str) -> bool {
        let mut args = self.server.iter().flat_map(|server| server.entry.args.windows(2));
        let given = args.rfind(|pair| pair.first().is_some_and(|first| first == "--client"));
        match given.and_then(|pair| pair.last()) {
            Some(given) => given == name,
            None => self.assistant.is_client(name),
        }
    }
}

/// A memory that another program keeps itself.
pub(crate) struct OtherMemory {
    pub(crate) name: &'static str,
    /// Where it is.
    pub(crate) place: String,
    /// What the person can do about it.
    pub(crate) advice: &'static str,
}

/// The memories that other programs keep here.
pub(crate) fn other_memories() -> Vec<OtherMemory> {
    let own = ASSISTANTS.iter().filter_map(|assistant| Some((assistant.name, assistant.own_memory.as_ref()?)));
    let all = own.chain(OTHER_MEMORIES.iter().map(|(name, own)| (*name, own)));
    let found = |(name, own): (&'static str, &OwnMemory)| {
        Some(OtherMemory { name, place: own.place()?.display().to_string(), advice: own.advice })
    };
    all.filter_map(found).collect()
}

/// The names of the assistants that are here, by whether they start memdir, on the memory at `root` where one is given.
pub(crate) fn here(root: Option<&Path>) -> Here {
    let mut here = Here::default();
    for connection in look() {
        match connection.fault(root) {
            Some((fault, _)) => drop(here.faults.insert(connection.name, fault)),
            None if connection.is_set_up() => here.set_up.push(connection.name),
            None => here.others.push(connection.name),
        }
    }
    here
}
