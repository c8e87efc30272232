//! What failures may speak of: the tools that a client is offered, and no others.
//!
//! The rooms below name actions in their hints without knowing by which tools they are reached. A model that is told to use a
//! tool which it does not have calls it all the same, and fails again.

use memdir_core::catalog::ROWS;
use memdir_core::report::{Code, Failure, Report};

/// The hint that is left to a client that can search, where the one that it would have got named another tool.
const SEARCH: &str = "search_files";
const SEARCH_HINT: &str = "`search_files` finds notes, with `\"mode\":\"name\"` by their names";

/// Takes out of the failures of a report what names an action that is not offered.
pub(super) fn speak_of_offered(report: &mut Report, is_offered: &dyn Fn(&str) -> bool) {
    let failed = report.actions.iter_mut().filter_map(|outcome| outcome.result.as_mut().err());
    failed.chain(&mut report.error).for_each(|failure| leave_out(failure, is_offered));
}

fn leave_out(failure: &mut Failure, is_offered: &dyn Fn(&str) -> bool) {
    if failure.details.action.as_ref().is_some_and(|action| !is_offered(action.name())) {
        failure.details.action = None;
    }
    let Some(hint) = failure.hint.take() else { return };
    let is_told = |text: &str| ROWS.iter().all(|row| is_offered(row.name) || !names(text, row.name));
    if is_told(&hint) {
        failure.hint = Some(hint);
        return;
    }
    let kept: Vec<String> = hint.split("; ").filter_map(|clause| kept_of(clause, &is_told)).collect();
    let is_search_of_use = matches!(failure.code, Code::NotFound | Code::IsADirectory | Code::LinkNotFound);
    failure.hint = match kept.as_slice() {
        [] => Some(SEARCH_HINT.to_owned()).filter(|_| is_search_of_use && is_offered(SEARCH)),
        kept => Some(kept.join("; ")),
    };
}

/// What is left of a clause: of two ways, the one that is offered.
fn kept_of(clause: &str, is_told: &dyn Fn(&str) -> bool) -> Option<String> {
    if is_told(clause) {
        return Some(clause.to_owned());
    }
    let ways: Vec<&str> = clause.split(" or ").collect();
    let [first, second] = ways.as_slice() else { return None };
    match (is_told(first), is_told(second)) {
        (true, false) => Some(first.trim_end_matches(',').to_owned()),
        (false, true) if first.starts_with("use ") => Some(format!("use {second}")),
        _ => None,
    }
}

/// Whether a text names an action. A path is one word, so that a note which is called like an action is none; a name that is an
/// ordinary word is one only in backticks.
fn names(text: &str, action: &str) -> bool {
    let is_part = |sign: char| sign.is_alphanumeric() || "_-./".contains(sign);
    let mut words = text.split(|sign| !is_part(sign)).map(|word| word.trim_end_matches('.'));
    if action.contains('_') { words.any(|word| word == action) } else { text.contains(&format!("`{action}`")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memdir_core::action::{Action, DeleteFile};
    use memdir_core::path::MemoryPath;

    #[track_caller]
    fn check(hint: &str, offered: &[&str], expected: Option<&str>) {
        let mut failure = Failure::new(Code::InvalidAction, "x").with_hint(hint);
        leave_out(&mut failure, &|name| offered.contains(&name));
        assert_eq!(failure.hint.as_deref(), expected, "{hint}");
    }

    #[test]
    fn of_a_hint_what_can_be_done_stays() {
        let update = ["update_file"];
        check("use `update_file`, or `write_file` to replace it", &update, Some("use `update_file`"));
        check("use `append_to_section` or `update_file` for more", &update, Some("use `update_file` for more"));
        check("make room first; get_size shows how large each is", &update, Some("make room first"));
        check("list_files shows what there is", &update, None);
        check("the nearest is `list_files.md`", &update, Some("the nearest is `list_files.md`"));
        check(
            "the memory is full; recent changes can be undone",
            &[],
            Some("the memory is full; recent changes can be undone"),
        );
        check("send it with `remember`", &[], None);
    }

    #[test]
    fn who_can_search_is_told_to_where_nothing_else_is_left() {
        let mut failure = Failure::new(Code::NotFound, "x").with_hint("list_files shows what there is");
        let path = MemoryPath::parse("a.md").unwrap();
        failure.details.action = Some(Action::DeleteFile(DeleteFile { path }));
        leave_out(&mut failure, &|name| name == SEARCH);
        assert_eq!(failure.hint.as_deref(), Some(SEARCH_HINT));
        assert!(failure.details.action.is_none());
    }
}
