//! What the owner sees of what a client did that may not see all.

use std::fs;

use memdir_engine::{Caller, Consent};
use memdir_policy::{Grant, Mode};
use memdir_vault::LogQuery;
use serde_json::{Value, json};

use super::world::{Given, Hidden, World, client, grant};
use crate::support::said;

pub(super) fn send(world: &World, grant: &Grant, mode: Mode, actions: &Value) -> Value {
    let parsed = memdir_dialect::parse(said(actions).as_bytes());
    let caller = Caller { seen: None, ..world.caller(grant, mode) };
    serde_json::to_value(world.engine.conclude(world.engine.propose(parsed, caller))).unwrap()
}

pub(super) fn read(world: &World, path: &str) -> String {
    fs::read_to_string(world.folder.path().join(path)).unwrap()
}

/// The paths that the newest batch changed, as the owner's log has them.
fn newest(world: &World) -> Vec<String> {
    let log = world.engine.log(&LogQuery { limit: 1, ..LogQuery::default() }, false).unwrap();
    log.entries[0].changed.iter().map(ToString::to_string).collect()
}

#[test]
fn a_rename_writes_the_links_of_hidden_notes_anew_and_tells_only_the_owner() {
    let grant = grant((&["work/**"], &["work/**"]));
    let world = World::new(&grant, Hidden::Notes);
    let report = send(
        &world,
        &grant,
        Mode::Off,
        &json!([{"action": "rename_file", "path": "work/p1.md", "new_path": "work/first.md"}]),
    );
    assert_eq!(
        report["changed"],
        json!(["work/board.canvas", "work/first.md", "work/p1.md", "work/plan.md"]),
        "{report}"
    );
    assert_eq!((&report["batch"], &report["issues"]), (&json!(null), &json!([])));
    assert!(!report.to_string().contains("private"), "{report}");
    assert!(read(&world, "private/pub-b.md").contains("[[first]]"));
    assert!(read(&world, "user.md").contains("[p](work/first.md)"));
    assert!(
        read(&world, "private/board.canvas")
            .contains(r#""file":"work/first.md"},{"type":"file","file":"private/plan.md""#)
    );
    assert_eq!(read(&world, "private/board.canvas"), read(&world, "work/board.canvas"));
    let changed = newest(&world);
    assert!(changed.contains(&"private/pub-b.md".to_owned()) && changed.contains(&"user.md".to_owned()), "{changed:?}");
    assert!(changed.contains(&"private/board.canvas".to_owned()), "{changed:?}");
    let records = world.engine.records(0).unwrap();
    let relinked = records.iter().find(|record| record.action == "relink").unwrap();
    let notes = &relinked.payload.as_ref().unwrap()["notes"];
    assert!(notes.as_array().unwrap().contains(&json!("private/pub-b.md")), "{notes}");
    assert_eq!((relinked.client.as_deref(), relinked.batch), (Some("shelf"), records.last().unwrap().batch));
}

#[test]
fn a_client_counts_its_own_proposals_and_the_owner_approves_the_whole() {
    let grant = grant((&["work/**"], &["work/**"]));
    let world = World::new(&grant, Hidden::Much);
    let rename = json!([{"action": "rename_file", "path": "work/log/pub.md", "new_path": "work/log/open.md"}]);
    let report = send(&world, &grant, Mode::Ask, &rename);
    assert_eq!(report["actions"][0]["error"]["message"], json!("proposal 1 waits for the person"));
    let pending = world.engine.pending().unwrap();
    let reviewed = pending.proposals.last().unwrap();
    let waiting = &reviewed.waiting;
    assert_eq!((waiting.id, waiting.own, waiting.author.client.as_deref()), (4, Some(1), Some("shelf")));
    assert_eq!(waiting.grant.as_deref(), Some(&grant));
    assert!(waiting.diff.contains("private/plan.md"), "{}", waiting.diff);
    assert!(reviewed.told.contains("rename to work/log/open.md") && !reviewed.told.contains("private"));
    world.engine.approve(waiting.id, Consent::Shown(waiting.digest), &super::world::client(None)).unwrap();
    assert!(newest(&world).contains(&"private/plan.md".to_owned()));
    let again = json!([{"action": "append_file", "path": "work/log/open.md", "content": "x"}]);
    let report = send(&world, &grant, Mode::Ask, &again);
    assert_eq!(report["actions"][0]["error"]["proposal"], json!(2), "{report}");
}

#[test]
fn notes_are_listed_in_pages_as_the_grant_shows_them() {
    let grant = grant((&["**/pub*.md"], &["user.md"]));
    let world = World::new(&grant, Hidden::Notes);
    let client = world.caller(&grant, Mode::Off);
    let (mut names, mut after) = (Vec::new(), None);
    loop {
        let (page, next) = world.engine.notes(&client, after.as_deref(), 2).unwrap();
        names.extend(page.iter().map(|entry| entry.path.to_string()));
        after = next;
        if after.is_none() {
            break;
        }
    }
    let shown: Vec<String> = world.visible(&grant).into_keys().collect();
    assert_eq!(names, shown);
    let owner = Caller { grant: None, ..client.clone() };
    let all = world.engine.notes(&owner, None, 1000).unwrap().0;
    assert!(all.len() > names.len() && all.iter().all(|entry| entry.size > 0));
    let path = super::world::path;
    assert!(world.engine.may_hear_of(&client, &path("work/pub-a.md")));
    assert!(world.engine.may_hear_of(&client, &path("work/pub-none.md")), "it may be told that this one has gone");
    assert!(!world.engine.may_hear_of(&client, &path("boss.md")) && world.engine.may_hear_of(&owner, &path("boss.md")));
}

#[test]
fn a_folder_is_not_moved_through_a_link_by_who_may_write_its_name_alone() {
    let grant = grant((&[], &["lib/**", "shared/*"]));
    let world = World::new(&grant, Hidden::Notes);
    std::os::unix::fs::symlink("../shared", world.folder.path().join("lib/ln")).unwrap();
    for (path, new_path) in [("lib/ln/a", "lib/b"), ("lib/in", "lib/ln/in")] {
        let rename = json!([{"action": "rename_file", "path": path, "new_path": new_path}]);
        let report = send(&world, &grant, Mode::Off, &rename);
        assert_eq!(report["actions"][0]["error"]["code"], json!("denied"), "{path} {new_path}: {report}");
        assert_eq!(read(&world, "shared/a/y/notes.md"), "# Notes\n\nzebra [[x/notes]]\n");
    }
}

#[test]
fn nothing_is_said_of_a_hidden_file_on_the_way() {
    let grant = grant((&[], &["**/work/**", "work/**"]));
    let world = World::new(&grant, Hidden::Notes);
    let create = json!({"action": "create_file", "path": "private/plan.md/work/x.md", "content": "x"});
    let other = json!({"action": "create_file", "path": "work/x.md", "content": "x"});
    // The hidden note has a link to what is renamed.
    let rename = json!({"action": "rename_file", "path": "work/p1.md", "new_path": "work/first.md"});
    for batch in [json!([create, other]), json!([rename, create])] {
        let report = send(&world, &grant, Mode::Off, &batch);
        let outcome = |at: usize| &report["actions"][at];
        let at = if batch[0] == create { 0 } else { 1 };
        assert_eq!(outcome(at)["error"]["code"], "unsupported_file", "{report}");
        assert_eq!(outcome(at)["error"]["message"], "nothing can be made at `private/plan.md/work/x.md`");
        assert_eq!(outcome(1 - at)["ok"], true, "{report}");
    }
    assert!(read(&world, "private/plan.md").contains("[[first]]"));
}

#[test]
fn a_folder_of_which_a_part_is_shown_does_not_tell_when_the_rest_has_changed() {
    let grant = grant((&["work/log/**"], &[]));
    let world = World::new(&grant, Hidden::Notes);
    let asked = json!([{"action": "get_file_info", "path": "work"}, {"action": "get_file_info", "path": "work/log"}]);
    let report = send(&world, &grant, Mode::Off, &asked);
    let modified = |at: usize| report["actions"][at]["value"]["modified"].as_str().unwrap().to_owned();
    assert!(modified(0).starts_with("1970-01-01") && !modified(1).starts_with("1970"), "{report}");
}

#[test]
fn a_hidden_note_that_cannot_be_written_keeps_nobody_from_a_rename() {
    let grant = grant((&["work/**"], &["work/**"]));
    for mode in [Mode::Off, Mode::All] {
        check_unwritable(&grant, mode);
    }
}

#[test]
fn the_owner_is_told_of_the_links_that_an_approval_left() {
    let grant = grant((&["work/**"], &["work/**"]));
    let world = World::new(&grant, Hidden::Notes);
    block(&world);
    let rename = json!([{"action": "rename_file", "path": "work/p1.md", "new_path": "work/first.md"}]);
    send(&world, &grant, Mode::All, &rename);
    let waiting = world.engine.pending().unwrap().proposals.pop().unwrap().waiting;
    let done = world.engine.approve(waiting.id, Consent::Shown(waiting.digest), &client(None)).unwrap();
    let receipt = done.receipt.clone().unwrap();
    assert!(!receipt.contains("private") && receipt.ends_with(memdir_plan::UNDO), "{receipt}");
    let owner = done.receipt_for_owner();
    assert!(owner.ends_with(memdir_plan::UNDO), "{owner}");
    for path in ["private/plan.md", "private/plans.md", "private/pub-b.md", "private/board.canvas"] {
        let text = read(&world, path);
        assert!(text.contains("p1") && !text.contains("first"), "{text}");
        assert!(owner.contains(&format!("`{path}`")), "{owner}");
    }
}

/// Lets nothing be put beside the notes of a folder.
fn block(world: &World) {
    for batch in 0..40 {
        for step in 0..12 {
            // What batches of before have left there stays.
            let _ = fs::create_dir_all(world.folder.path().join(format!("private/.memdir-{batch}-{step}.tmp/x")));
        }
    }
}

/// Checks that a rename, done at once or approved, is done without the links in hidden notes beside which nothing can be put.
#[track_caller]
fn check_unwritable(grant: &Grant, mode: Mode) {
    let rename = json!([{"action": "rename_file", "path": "work/p1.md", "new_path": "work/first.md"}]);
    let told = [Hidden::Nothing, Hidden::Notes].map(|hidden| {
        let world = World::new(grant, hidden);
        if hidden == Hidden::Notes {
            block(&world);
        }
        let report = send(&world, grant, mode, &rename);
        let approved = world.approve(grant, Given::ByDiff, false);
        assert!(world.folder.path().join("work/first.md").exists(), "{mode:?}: {report} {approved}");
        if hidden == Hidden::Notes {
            assert!(read(&world, "private/pub-b.md").contains("[[p1]]"));
            assert!(world.engine.records(0).unwrap().iter().all(|record| record.action != "relink"));
        }
        (report, approved)
    });
    assert_eq!(told[0], told[1]);
}
