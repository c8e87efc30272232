//! `tools.toml`: the servers that the person has added, beside the settings.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::super::config::{self, Sources};
use super::super::file::Stamp;
use super::super::private_file::{Listed, PrivateFile};
use memdir_core::catalog;
use memdir_core::report::{Code, Failure};
use memdir_hub::{Hub, Places, RegistrySource, TokenPlace, Tokens};
use memdir_tools::{Server, ServerName, read_registry, write_registry};

/// The word by which memdir is started as the guard of its servers. Nobody types it.
pub(crate) const GUARD: &str = "__guard";
/// What to do about a damaged file.
const MEND: &str = "no tool is called until the file is repaired, or moved away and the servers added again";

/// The file, which need not be there.
#[derive(Clone, Debug)]
pub(super) struct Registry {
    file: PrivateFile,
    tokens: TokenPlace,
}

impl Registry {
    pub(super) fn of(sources: &Sources) -> Result<Self, Failure> {
        Ok(Self { file: PrivateFile::of(sources, "tools.toml", MEND)?, tokens: sources.tokens()? })
    }

    /// The servers, in the order of their names; none where the file is not there.
    pub(super) fn read(&self) -> Result<Vec<Server>, Failure> {
        Ok(self.file.read()?.0)
    }

    /// The server of this name.
    pub(super) fn server(&self, name: &ServerName) -> Result<Server, Failure> {
        let all = self.read()?;
        match all.iter().find(|server| server.name == *name) {
            Some(server) => Ok(server.clone()),
            None => Err(unknown(name.as_str(), &all)),
        }
    }

    /// Changes the servers, under a lock: what another process adds in the same instant is not lost.
    pub(super) fn change<R>(&self, edit: impl FnOnce(&mut Vec<Server>) -> Result<R, Failure>) -> Result<R, Failure> {
        self.file.change(edit)
    }

    /// Changes one server.
    pub(super) fn change_one<R>(&self, name: &ServerName, edit: impl FnOnce(&mut Server) -> R) -> Result<R, Failure> {
        self.change(|servers| match servers.iter().position(|server| server.name == *name) {
            Some(at) => servers.get_mut(at).map(edit).ok_or_else(|| unknown(name.as_str(), &[])),
            None => Err(unknown(name.as_str(), servers)),
        })
    }

    /// The connections to these servers, which follow the file.
    pub(super) fn hub(&self) -> Result<Hub, Failure> {
        self.start(None)
    }

    /// As [`Registry::hub`], for one server alone: no other is started.
    pub(super) fn hub_of(&self, server: &ServerName) -> Result<Hub, Failure> {
        self.start(Some(server.clone()))
    }

    fn start(&self, only: Option<ServerName>) -> Result<Hub, Failure> {
        Hub::start(Box::new(Followed { registry: self.clone(), only, seen: Mutex::default() }), self.places())
    }

    /// Where the hub keeps what it has to keep, outside every memory, and the environment of this process.
    pub(super) fn places(&self) -> Places {
        let below = |folder: Option<PathBuf>, name: &str| folder.map(|folder| folder.join("hub").join(name));
        let tokens = below(memdir_host::state_folder(), "tokens.json");
        Places {
            lists: below(memdir_host::cache_folder(), "lists"),
            logs: below(memdir_host::state_folder(), "logs"),
            tokens: tokens.map(|file| Tokens { file, place: self.tokens }),
            home: memdir_host::home(),
            environment: config::environment(),
            guard: guard().unwrap_or_default(),
        }
    }
}

/// What is started to end the programs of servers when this process is killed: memdir itself.
fn guard() -> Option<Vec<String>> {
    let own = memdir_host::own_program().ok()?;
    Some(vec![own.to_str()?.to_owned(), GUARD.to_owned()])
}

/// The file as a program that stays reads it: again whenever it is another one.
#[derive(Debug)]
struct Followed {
    registry: Registry,
    /// The one server that counts, where not all do.
    only: Option<ServerName>,
    /// What the file was when it was read last; `None` before, and where that failed.
    seen: Mutex<Option<Option<Stamp>>>,
}

impl RegistrySource for Followed {
    fn read_if_changed(&self) -> Result<Option<Vec<Server>>, Failure> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == Some(self.registry.file.stamp()) {
            return Ok(None);
        }
        *seen = None;
        let (mut servers, stamp) = self.registry.file.read::<Server>()?;
        *seen = Some(stamp);
        servers.retain(|server| self.only.as_ref().is_none_or(|only| server.name == *only));
        Ok(Some(servers))
    }
}

/// There is no server of this name; the hint names the nearest, or all.
pub(super) fn unknown(name: &str, all: &[Server]) -> Failure {
    let names = || all.iter().map(|server| server.name.as_str());
    let hint = match catalog::nearest(name, names()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if all.is_empty() => "no server is added: `memdir tools add NAME -- COMMAND`".to_owned(),
        None => format!("there is {}", names().collect::<Vec<_>>().join(", ")),
    };
    Failure::new(Code::NotFound, format!("there is no server `{}`", catalog::shorten(name))).with_hint(hint)
}

impl Listed for Server {
    fn read(text: &str) -> Result<Vec<Self>, String> {
        read_registry(text).map_err(|error| error.to_string())
    }

    fn write(list: Vec<Self>) -> Result<String, Failure> {
        let hint = "`memdir tools add --help` says what can be given";
        write_registry(list).map_err(|error| Failure::new(Code::Usage, error.to_string()).with_hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use memdir_tools::Transport;

    use super::*;

    fn named(name: &str) -> Server {
        let transport = Transport::Stdio { command: "x".to_owned(), args: Vec::new(), env: [].into(), cwd: None };
        let text = write_registry(Vec::new()).unwrap();
        assert_eq!(read_registry(&text).unwrap(), []);
        Server::new(ServerName::parse(name).unwrap(), transport)
    }

    /// What another process writes counts at the next look, and what is damaged is told at each.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test is the other process")]
    fn a_program_that_stays_hears_of_each_change_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tools.toml");
        let registry = Registry { file: PrivateFile::at(path.clone(), "tools.toml", MEND), tokens: TokenPlace::File };
        let followed = Followed { registry: registry.clone(), only: None, seen: Mutex::default() };
        let add_one = |name: &str| {
            registry.change(|servers| {
                servers.push(named(name));
                Ok(())
            })
        };
        let names = || {
            followed
                .read_if_changed()
                .map(|read| read.map(|all| all.iter().map(|one| one.name.to_string()).collect::<Vec<_>>()))
        };
        assert_eq!(names(), Ok(Some(vec![])));
        assert_eq!(names(), Ok(None));
        for (add, expected) in [("b", vec!["b"]), ("a", vec!["a", "b"])] {
            add_one(add).unwrap();
            assert_eq!(names(), Ok(Some(expected.iter().map(|name| (*name).to_owned()).collect())));
            assert_eq!(names(), Ok(None));
        }
        let good = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, "version = 9").unwrap();
        assert_eq!(names().unwrap_err().code, Code::Config);
        assert_eq!(names().unwrap_err().code, Code::Config);
        std::fs::write(&path, &good).unwrap();
        assert_eq!(names().unwrap().map(|all| all.len()), Some(2));
        let twice = add_one("a").unwrap_err();
        assert_eq!(twice.code, Code::Usage);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), good);
    }

    #[cfg(unix)]
    #[test]
    #[expect(clippy::disallowed_methods, reason = "another program writes the file")]
    fn a_file_that_cannot_be_read_denies_all_tools_and_says_why() {
        use std::os::unix::fs::PermissionsExt;

        use memdir_tools::{ToolCall, ToolName, Toolbox};
        use tokio_util::sync::CancellationToken;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tools.toml");
        let registry = Registry { file: PrivateFile::at(path.clone(), "tools.toml", MEND), tokens: TokenPlace::File };
        registry
            .change(|servers| {
                servers.push(named("one"));
                Ok(())
            })
            .unwrap();
        let followed = Followed { registry: registry.clone(), only: None, seen: Mutex::default() };
        let hub = Hub::start(Box::new(followed), Places::default()).unwrap();
        let call = || {
            let tool = ToolName::of(&ServerName::parse("one").unwrap(), "tool");
            let call = ToolCall { tool, arguments: serde_json::Map::new(), client: None };
            Failure::from(hub.call(&call, &mut (), &CancellationToken::new()).unwrap_err())
        };
        // There is no such program, so a call that is let through cannot reach it.
        assert_eq!(call().code, Code::Unavailable);
        let whole = std::fs::read_to_string(&path).unwrap();
        let half: String = whole.chars().take(whole.len() / 2).collect();
        let write = |text: &str, mode: u32| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        for (text, mode, why) in
            [(whole.as_str(), 0o644, "others can read or change"), (half.as_str(), 0o600, "is damaged")]
        {
            write(text, mode);
            let failure = call();
            assert_eq!(failure.code, Code::Denied, "{failure}");
            assert!(failure.message.contains("`tools.toml`") && failure.message.contains(why), "{failure}");
            let hint = failure.hint.unwrap();
            assert!(!hint.contains(path.to_str().unwrap()), "a model is told no path of the machine: {hint}");
            let told = registry.read().unwrap_err().hint.unwrap();
            assert!(told.contains(path.to_str().unwrap()), "the person is told where the file is: {told}");
            write(&whole, 0o600);
            assert_eq!(call().code, Code::Unavailable);
        }
    }
}
