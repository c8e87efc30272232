//! What a person is told who mistypes: failures in the words of what was typed, and commands that do not exist.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};

use super::args::Cli;
use super::exit::usage;
use memdir_core::catalog::{ROWS, shorten};
use memdir_core::report::{Code, Failure};
use memdir_policy as policy;

/// What to do about a failure. A hint that is for a model, which sends actions, is not for a person, who types commands.
pub(super) fn hint(failure: &Failure) -> Option<String> {
    let said = failure.hint.as_deref();
    let example = ["name such as ", "day such as "];
    if let Some(one) = said.and_then(|hint| hint.strip_prefix("send a "))
        && example.iter().any(|start| one.starts_with(start))
    {
        return Some(format!("choose a {one}"));
    }
    if let Some(links) = said.and_then(|hint| hint.strip_prefix("send one of ")) {
        return Some(format!("name one of {links}"));
    }
    if failure.code == Code::AwaitingApproval {
        return Some(match failure.details.waiting {
            Some(number) => format!("`memdir approve {number}` carries it out, `memdir reject {number}` drops it"),
            None => "`memdir pending` shows what waits for you".to_owned(),
        });
    }
    if said == Some(policy::SETTLED) {
        return Some("`memdir rules` shows the rule".to_owned());
    }
    // A failure of the command line itself has words for a person.
    if let Some(hint) = said.filter(|hint| failure.code == Code::Usage || !is_for_model(hint)) {
        return Some(hint.to_owned());
    }
    let hint = match failure.code {
        Code::NotFound => "`memdir tree` lists the notes, `memdir new` makes one",
        Code::AlreadyExists => "`memdir edit` changes it; or choose another name",
        Code::IsADirectory => "`memdir tree FOLDER` lists what is in it",
        Code::NotADirectory => "it is a note: `memdir read NOTE` prints it",
        Code::NotEmpty => "`memdir rm -r` deletes it with all that is in it",
        Code::AmbiguousMatch => "`memdir edit` changes the one that you mean",
        Code::InvalidPath => "give its path inside the memory, such as `people/anna.md`",
        Code::InvalidAction => "`memdir edit` changes the note in your editor",
        Code::UnsupportedFile => "a note's name ends in `.md`",
        Code::LinkNotFound => "`memdir new` makes the note that the link names",
        Code::QuotaExceeded | Code::TooLarge => "split it into several notes, or delete what is no longer needed",
        Code::PermissionRequired => "`[permission] cli` in your settings says that what you type has to be agreed to",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// How hints begin that name what is in the memory, and nothing else.
const NAMING: [&str; 4] = ["the nearest is ", "did you mean ", "its headings are ", "those are: "];

/// Whether a hint says what to send as an action: it names one, or an argument of one, as a word of its own.
fn is_for_model(hint: &str) -> bool {
    if NAMING.iter().any(|start| hint.starts_with(start)) {
        return false;
    }
    let fields = ROWS.iter().flat_map(|row| row.fields.iter().map(|field| field.name));
    // Some names are ordinary words.
    let names: Vec<_> = ROWS.iter().map(|row| row.name).chain(fields).filter(|name| name.contains('_')).collect();
    // A path is one word, so that a note that is called like an action is none.
    let is_part = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let mut words = hint.split(|c| !is_part(c)).map(|word| word.trim_end_matches('.'));
    hint.starts_with("send ") || words.any(|word| names.contains(&word))
}

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
        return Some(failure(format!("`memdir read {}` prints a note", shorten(word))));
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

    /// No hint that a person reads tells of an action, whatever the failure.
    #[test]
    fn what_is_said_to_a_model_is_not_said_to_a_person() {
        let failure = |hint: &str| Failure::new(Code::NotFound, "x").with_hint(hint);
        for row in ROWS.iter().filter(|row| row.name.contains('_')) {
            let shown = hint(&failure(&format!("use `{}`", row.name))).unwrap();
            assert_eq!(shown, "`memdir tree` lists the notes, `memdir new` makes one", "{}", row.name);
        }
        // What is called like an action is still what the person has called so.
        for said in [
            "the nearest is `a.md`",
            "did you mean `set_fact`?",
            "use `people/move_to.md`, or a name that is clearly another",
            "use `rename_file.md`, or a name that is clearly another",
            "`rename_file.md` is a file; use a folder's name",
        ] {
            assert_eq!(hint(&failure(said)).unwrap(), said);
        }
        assert_eq!(hint(&failure("send one of [[a]], [[b]]")).unwrap(), "name one of [[a]], [[b]]");
        let mut waits = Failure::new(Code::AwaitingApproval, "x").with_hint("go on without it; the person decides");
        assert_eq!(hint(&waits).unwrap(), "`memdir pending` shows what waits for you");
        waits.details.waiting = Some(7);
        assert_eq!(hint(&waits).unwrap(), "`memdir approve 7` carries it out, `memdir reject 7` drops it");
        let denied = Failure::new(Code::Denied, "x");
        assert_eq!(hint(&denied.clone().with_hint(policy::SETTLED)).unwrap(), "`memdir rules` shows the rule");
        assert_eq!(hint(&denied.with_hint("leave it out; x")).unwrap(), "leave it out; x");
        assert_eq!(hint(&failure("send a name such as `a.md`")).unwrap(), "choose a name such as `a.md`");
        let no_day = Failure::new(Code::InvalidAction, "x").with_hint("send a day such as `2026-11-16`, or a time");
        assert_eq!(hint(&no_day).unwrap(), "choose a day such as `2026-11-16`, or a time");
        assert_eq!(hint(&Failure::new(Code::Internal, "x").with_hint("send `x`")), None);
        assert_eq!(hint(&usage("x", "send `--http 8765`")).unwrap(), "send `--http 8765`");
    }

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
