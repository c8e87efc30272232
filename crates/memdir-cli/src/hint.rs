//! What a person is told to do about a failure, in the words of what is typed: hints are written for models, which send actions.

use memdir_core::catalog::ROWS;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stop::usage;

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
}
