//! What a person is told who types a command that does not exist.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};

use super::command::Cli;
use super::stop::usage;
use memdir_core::catalog::shorten;
use memdir_core::report::Failure;
use memdir_core::shell::quoted;

/// What people type that is no command, and what does what they want. Aliases of commands are with the commands.
const WANTED: [(&[&str], &str); 13] = [
    (&["settings", "options"], "settings are one file; `memdir doctor` says where it is"),
    (
        &["backup", "export", "copy"],
        "a memory is a plain folder: copy it with any program; `memdir` alone says where it is",
    ),
    (
        &["import", "load"],
        "`memdir init DIR` takes a folder of notes as it is; or put Markdown files into the memory's folder",
    ),
    (
        &["sync", "push", "pull", "share"],
        "memdir sends nothing anywhere; any program that syncs folders can sync a memory",
    ),
    (
        &["start", "server", "run", "stop"],
        "nothing has to be started: `memdir install NAME` lets an assistant start it; `memdir mcp --http` serves it",
    ),
    (&["login", "logout", "signup", "account"], "there is no account: notes stay on this machine"),
    (&["update", "upgrade"], "the program is updated by what installed it; `memdir edit NOTE` changes a note"),
    (&["uninstall"], "`memdir install NAME --remove` takes memdir out of an assistant; your notes stay where they are"),
    (
        &["how", "man", "docs", "usage", "commands"],
        "`memdir help` lists the commands, `memdir help search` explains one",
    ),
    (
        &["note", "notes", "memory"],
        "`memdir remember` keeps a sentence, `memdir tree` lists the notes, `memdir read NOTE` prints one",
    ),
    (&["write", "put"], "`memdir add NOTE LINE` adds a line, `memdir new NOTE` makes a note"),
    (
        &["reset", "clear", "wipe", "purge"],
        "`memdir rm NOTE` deletes a note, `memdir forget NOTE` erases it from the history too",
    ),
    (&["redo"], "`memdir undo NUMBER` of an undo brings back what it took; `memdir log` shows the numbers"),
];

/// So much like a command is a slip of the fingers. `what` is like `chat`, but less.
const LIKE: f64 = 0.9;

/// Says what is wrong with a first word that is no command; `None` for any other mistake, which clap explains.
pub(super) fn unknown(error: &Error, arguments: &[OsString]) -> Option<Failure> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    if error.kind() == ErrorKind::UnknownArgument && text(ContextKind::InvalidArg) == Some("-v") {
        return Some(usage("there is no option `-v`", "`memdir version` prints the version"));
    }
    if let (ErrorKind::UnknownArgument, Some(word)) = (error.kind(), text(ContextKind::InvalidArg))
        && !word.starts_with('-')
        && arguments.array_windows().any(|[one, other]| one == "tools" && other == "add")
    {
        let message = format!("unexpected argument `{}`", shorten(word));
        return Some(usage(message, "the command goes after `--`: `memdir tools add NAME -- COMMAND`"));
    }
    let word = text(ContextKind::InvalidSubcommand).filter(|_| error.kind() == ErrorKind::InvalidSubcommand)?;
    let mut typed = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    // Behind a command, clap knows better what may stand there.
    let command = Cli::command();
    let is_first = typed.by_ref().take_while(|argument| *argument != word).all(|before| {
        command
            .get_subcommands()
            .all(|known| known.get_name() != before && known.get_all_aliases().all(|name| name != before))
    });
    if !is_first {
        return None;
    }
    let more: Vec<&str> = typed.filter(|argument| !argument.starts_with('-')).collect();
    let failure = |hint: String| usage(format!("there is no command `{}`", shorten(word)), hint);
    let lower = word.to_lowercase();
    if let Some((_, hint)) = WANTED.iter().find(|(words, _)| words.contains(&lower.as_str())) {
        return Some(failure((*hint).to_owned()));
    }
    if word.ends_with(".md") || word.contains('/') {
        return Some(failure(format!("`memdir read {}` prints a note", quoted(&shorten(word)))));
    }
    Some(failure(match nearest(&command, &lower) {
        Some(near) => format!("did you mean `memdir {near}`?"),
        None if word.contains(char::is_whitespace) || !more.is_empty() => {
            "`memdir search` looks words up, `memdir ask` lets a model answer, `memdir remember` keeps a sentence"
                .to_owned()
        }
        None => format!("`memdir help` lists the commands; `memdir search {}` looks the word up", shorten(word)),
    }))
}

/// The command that is spelled nearly so.
fn nearest(command: &clap::Command, word: &str) -> Option<String> {
    let shown = command.get_subcommands().filter(|known| !known.is_hide_set());
    let names = shown.flat_map(|known| std::iter::once(known.get_name()).chain(known.get_all_aliases()));
    let near = names.map(|name| (strsim::jaro_winkler(word, name), name)).filter(|(likeness, _)| *likeness >= LIKE);
    near.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word that is a command, or stands twice, would never be told of.
    #[test]
    fn no_wanted_word_is_a_command() {
        let command = Cli::command();
        let mut seen = std::collections::BTreeSet::new();
        for word in WANTED.iter().flat_map(|(words, _)| *words) {
            assert!(seen.insert(word), "{word}");
            let is =
                |known: &clap::Command| known.get_name() == *word || known.get_all_aliases().any(|name| name == *word);
            assert!(!command.get_subcommands().any(is), "{word}");
        }
    }
}
