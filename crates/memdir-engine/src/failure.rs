//! Errors of the vault in the words of the contract.

use memdir_core::report::{Code, Failure};
use memdir_policy::Grant;
use memdir_vault::VaultError;

/// Says to a model what the vault could not do.
///
/// What SQLite says can hold a path of the host, so it goes to the log for operators alone.
#[must_use]
pub fn failure(error: &VaultError) -> Failure {
    let say = |code, hint: &str| Failure::new(code, error.to_string()).with_hint(hint);
    match error {
        VaultError::Conflict(path) => {
            let message = format!("note `{path}` has changed since it was planned");
            Failure::new(Code::Conflict, message).with_hint("read it again, then repeat the edit")
        }
        VaultError::Busy => say(Code::Busy, "nothing was done; try again in a moment"),
        VaultError::DiskFull => say(Code::DiskFull, "nothing was done; make room, then try again"),
        VaultError::NoWriteAccess(None) => say(
            Code::NoWriteAccess,
            "nothing was done; memdir needs the right to write to the folder and to all that is in it",
        ),
        VaultError::NoWriteAccess(Some(_)) => {
            say(Code::NoWriteAccess, "nothing was done; the note or its folder cannot be written")
        }
        VaultError::Unfit => {
            say(Code::NoWriteAccess, "nothing was done; the person can name another folder with `--state DIR`")
        }
        VaultError::NoLocks => {
            say(Code::NoWriteAccess, "nothing was done; the person can move the memory to another drive")
        }
        VaultError::Moved => {
            say(Code::Unavailable, "nothing was done; the person has to put the folder back, or start memdir again")
        }
        VaultError::Untrusted(_) => {
            say(Code::NoWriteAccess, "nothing was done; the person can run `memdir doctor`, which says what to do")
        }
        VaultError::Damaged(_) => Failure::new(Code::Damaged, "the history of this memory cannot be read")
            .with_hint("nothing was done; the person can run `memdir doctor --repair`"),
        VaultError::Newer(_) => say(Code::Unavailable, "nothing was done; update memdir"),
        VaultError::NotReached(Some(first)) => {
            let hint = format!("the first day that can be asked for is {}", first.day());
            Failure::new(Code::Unavailable, error.to_string()).with_hint(hint)
        }
        VaultError::NotReached(None) => say(Code::Unavailable, "no history of it is kept; ask without a day"),
        VaultError::Pruned(_) => say(Code::Unavailable, "the entry is kept, its contents are not"),
        VaultError::UnknownBatch(_) => say(Code::NotFound, "`memdir log` shows the numbers"),
        VaultError::Decided(_) => say(Code::NotFound, "`memdir pending` shows those that wait"),
        VaultError::InSession(_) => say(Code::Busy, "wait until it has answered, or begin another session"),
        VaultError::NoSession(_) => say(Code::NotFound, "`memdir session list` shows those that are kept"),
        VaultError::LongSession(_) => say(Code::TooLarge, "begin another session"),
        VaultError::Unsettled(_) => {
            say(Code::Io, "look at the notes and at the history (`memdir log`) before you try again")
        }
        VaultError::WatchLimit(limit) => Failure::new(Code::Io, "the system watches no more folders")
            .with_hint(format!("the person can raise `{limit}`")),
        VaultError::Io { verb, path, source } => {
            let place = path.as_ref().map_or_else(String::new, |path| format!(" `{path}`"));
            let message = format!("the system could not {verb}{place}: {}", source.kind());
            Failure::new(Code::Io, message).with_hint("nothing was done; try again")
        }
        VaultError::History(_) => Failure::new(Code::Io, "the history of this memory cannot be used now")
            .with_hint("nothing was done; the person can run `memdir doctor`"),
    }
}

/// Says what can be done and what cannot, where the history cannot be used.
#[must_use]
pub fn without_history(failure: &Failure) -> String {
    let message = &failure.message;
    let why = if failure.code == Code::Damaged {
        ": the person can run `memdir doctor --repair`"
    } else if failure.code == Code::DiskFull {
        ""
    } else {
        ": the person can run `memdir doctor`"
    };
    format!("{message}; notes can still be read (without an audit entry), but nothing can be changed{why}")
}

/// Why nothing is done with what was planned before something was forgotten: it may hold what was forgotten.
pub(super) fn forgotten_meanwhile() -> Failure {
    Failure::new(Code::Conflict, "something was forgotten meanwhile").with_hint("nothing was done; try again")
}

/// Says to a client what the vault could not do, with nothing of what its grant hides.
pub(super) fn told(error: &VaultError, grant: Option<&Grant>) -> Failure {
    let failure = failure(error);
    let Some(grant) = grant.filter(|grant| grant.is_restricted()) else { return failure };
    // Not so numbers of batches, and names that the system says.
    let is_shown =
        matches!(error, VaultError::Busy | VaultError::DiskFull | VaultError::NoWriteAccess(None) | VaultError::Moved)
            || matches!(error, VaultError::Conflict(path) | VaultError::NoWriteAccess(Some(path)) if grant.shows(path));
    if is_shown {
        return failure;
    }
    Failure::new(failure.code, "the change could not be made now").with_hint("nothing was done; try again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use memdir_core::path::MemoryPath;

    #[test]
    fn a_client_is_told_of_what_it_sees_and_of_nothing_else() {
        let globs = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>();
        let part = Grant::new(&globs(&["work/**"]), &globs(&[]), None).unwrap();
        let all = Grant::new(&globs(&["**"]), &globs(&[]), None).unwrap();
        let conflict = |path: &str| VaultError::Conflict(MemoryPath::parse(path).unwrap());
        let source = || std::io::Error::from(std::io::ErrorKind::ReadOnlyFilesystem);
        let io =
            VaultError::Io { verb: "write", path: Some(MemoryPath::parse("private/a.md").unwrap()), source: source() };
        let closed = |path: &str| VaultError::NoWriteAccess(Some(MemoryPath::parse(path).unwrap()));
        let hidden = [conflict("private/a.md"), closed("private/a.md"), io];
        for error in hidden.into_iter().chain([VaultError::UnknownBatch(41), VaultError::Decided(42)]) {
            let told = told(&error, Some(&part));
            assert_eq!((told.code, told.message.as_str()), (failure(&error).code, "the change could not be made now"));
            assert_eq!(told.hint.as_deref(), Some("nothing was done; try again"));
            for grant in [None, Some(&all)] {
                assert_eq!(super::told(&error, grant), failure(&error), "who sees all is told all");
            }
        }
        let shown = [conflict("work/a.md"), closed("work/a.md"), VaultError::NoWriteAccess(None)];
        for error in shown.into_iter().chain([VaultError::Busy, VaultError::DiskFull]) {
            assert_eq!(told(&error, Some(&part)), failure(&error));
        }
        assert_eq!(failure(&closed("work/a.md")).message, "no permission to write `work/a.md`");
    }
}
