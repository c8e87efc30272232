//! Whether an approval succeeds does not depend on what is hidden from the client that proposed, and no edit there is lost.

use std::fs;

use memdir_core::report::Code;
use memdir_engine::{Caller, Consent, Guard, Objection, Reviewed};
use memdir_policy::{Grant, Mode};
use serde_json::{Value, json};

use super::owner::{read, send};
use super::world::{Given, Hidden, World, client, grant};
use crate::support::said;

/// A note that is hidden, and has links to both notes that are renamed.
const BOTH: &str = "private/both.md";

fn work() -> Grant {
    grant((&["work/**"], &["work/**"]))
}

fn rename(path: &str, new_path: &str) -> Value {
    json!([{"action": "rename_file", "path": path, "new_path": new_path}])
}

/// A memory with a hidden note, where notes are hidden at all.
fn world(hidden: Hidden) -> World {
    let world = World::new(&work(), hidden);
    if hidden != Hidden::Nothing {
        fs::write(world.folder.path().join(BOTH), "[[p1]] and [[pub-a]]\n").unwrap();
    }
    world
}

/// The only proposal of the client.
fn proposal(world: &World) -> Reviewed {
    world.engine.pending().unwrap().proposals.pop().unwrap()
}

#[test]
fn two_renames_are_approved_one_after_the_other_whatever_hidden_note_links_to_both() {
    for given in [Given::ByDiff, Given::ByCode] {
        let told = [Hidden::Nothing, Hidden::Notes].map(|hidden| {
            let world = world(hidden);
            let reports = [("work/p1.md", "work/first.md"), ("work/pub-a.md", "work/open.md")]
                .map(|(path, new_path)| send(&world, &work(), Mode::All, &rename(path, new_path)));
            let approved = world.approve(&work(), given, false);
            if hidden == Hidden::Notes {
                assert_eq!(read(&world, BOTH), "[[first]] and [[open]]\n", "{approved}");
            }
            (reports, approved, world.visible(&work()))
        });
        assert_eq!(told[0], told[1]);
        assert!(told[0].2.contains_key("work/first.md") && told[0].2.contains_key("work/open.md"), "{}", told[0].1);
    }
}

#[test]
fn an_edit_of_a_hidden_note_is_kept_and_stops_no_approval_and_one_of_a_visible_note_does() {
    for is_code in [false, true] {
        let world = world(Hidden::Notes);
        send(&world, &work(), Mode::All, &rename("work/pub-a.md", "work/open.md"));
        let Reviewed { waiting, told, .. } = proposal(&world);
        assert!(waiting.diff.contains(BOTH) && !told.contains("private"), "{}", waiting.diff);
        let kept = world.engine.waiting().unwrap().0.pop().unwrap();
        assert!(!format!("{kept:?}").contains("private"), "{kept:?}");

        fs::write(world.folder.path().join(BOTH), "Other words, and [[pub-a|a link]].\n").unwrap();
        assert!(!proposal(&world).is_renewed);
        let code = waiting.code.show();
        let consent = || if is_code { Consent::Code(&code) } else { Consent::Shown(waiting.digest) };
        let visible = "# Public\n\nwhat the person has written meanwhile\n";
        fs::write(world.folder.path().join("work/pub-a.md"), visible).unwrap();
        fs::write(world.folder.path().join("work/more.md"), "[[pub-a]]\n").unwrap();
        let error = world.engine.approve(waiting.id, consent(), &client(None)).unwrap_err();
        assert_eq!(error.failure.code, Code::Conflict);
        fs::remove_file(world.folder.path().join("work/more.md")).unwrap();
        world.engine.approve(waiting.id, consent(), &client(None)).unwrap();
        assert_eq!(read(&world, BOTH), "Other words, and [[open|a link]].\n");
        assert_eq!(read(&world, "work/open.md"), visible);
    }
}

#[test]
fn what_asks_about_a_change_is_not_told_of_hidden_notes() {
    for mode in [Mode::Off, Mode::All] {
        let world = world(Hidden::Notes);
        let guard = Guard::new(|plan| {
            assert!(!plan.diff().contains("private"), "{}", plan.diff());
            Objection::default()
        });
        let parsed = memdir_dialect::parse(said(&rename("work/pub-a.md", "work/open.md")).as_bytes());
        let caller = Caller { guard: Some(guard), ..world.caller(&work(), mode) };
        let report = world.engine.conclude(world.engine.propose(parsed, caller));
        let is_done = report.actions[0].result.is_ok();
        assert_eq!(is_done, mode == Mode::Off, "{report:?}");
        assert_eq!(read(&world, BOTH).contains("[[open]]"), is_done);
    }
}
