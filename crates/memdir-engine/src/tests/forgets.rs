//! What was read before something was forgotten does not come back, and what is read after it is noted whole.

use super::*;
use crate::{ForgetPreview, ForgetTarget, RelatedLines};
use memdir_plan::{Called, Sought};

/// One whose vault has not looked at the history yet, as the command line has it.
fn unopened(root: &Path) -> Engine {
    let Engine { settings, .. } = engine(root);
    let root = root.canonicalize().unwrap();
    let dir = Dir::open_ambient_dir(&root, ambient_authority()).unwrap();
    Engine::new(Vault::new(dir, root, Options::default()), settings)
}

/// Another process forgets a note.
fn forget(root: &Path) {
    let person = engine(root);
    let sought = Sought::Note(vec![Called::always(MemoryPath::parse("secret.md").unwrap())]);
    let mut writer = person.vault.lock().unwrap();
    writer.forget_history(&sought, &caller().author, Timestamp::from_micros(2_000_000)).unwrap();
}

fn changed() -> tempfile::TempDir {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    assert_eq!(run(&engine, EDIT, caller()).batch, Some(1));
    folder
}

#[test]
fn a_read_after_something_was_forgotten_is_noted_whole() {
    let folder = changed();
    forget(folder.path());
    let engine = unopened(folder.path());
    engine.read(&MemoryPath::parse("a.md").unwrap(), &caller()).unwrap();
    engine.vault.finish();
    let records = engine.vault.records(0).unwrap();
    let last = records.iter().rfind(|record| record.action == "read_file").unwrap();
    assert_eq!(last.payload, Some(json!({"path": "a.md"})), "{last:?}");
}

#[test]
fn what_was_to_wait_does_not_once_something_was_forgotten() {
    let folder = changed();
    let engine = engine(folder.path());
    let text = br#"<actions>[{"action":"create_file","path":"b.md","content":"what was read"}]</actions>"#;
    let asking = || Caller { mode: Mode::All, ..caller() };
    let proposal = engine.propose(dialect::parse(text), asking());
    forget(folder.path());
    let report = engine.conclude(proposal);
    assert_eq!(codes(&report), [Some(Code::Conflict)]);
    assert_eq!(report.actions[0].result.as_ref().unwrap_err().message, "something was forgotten meanwhile");
    assert!(engine.pending().unwrap().proposals.is_empty());
    let report = run(&engine, text, asking());
    assert_eq!(codes(&report), [Some(Code::AwaitingApproval)], "sent again, it waits");
}

#[test]
fn undo_and_restore_bring_nothing_back_that_was_forgotten_meanwhile() {
    let folder = changed();
    let path = MemoryPath::parse("a.md").unwrap();
    let engine = unopened(folder.path());
    let write = |text: &str| std::fs::write(folder.path().join("a.md"), text).unwrap();
    let check = |change| {
        forget(folder.path());
        let error = engine.conclude_change(change, &caller()).unwrap_err();
        let said = (error.failure.code, error.failure.message.as_str());
        assert_eq!(said, (Code::Conflict, "something was forgotten meanwhile"));
    };
    check(engine.propose_undo(None).unwrap());
    write("by hand\n");
    check(engine.propose_restore(&path, 1).unwrap());
    assert_eq!(std::fs::read_to_string(folder.path().join("a.md")).unwrap(), "by hand\n");
    write("1\n");
    // A process that begins after it is not kept from it.
    let engine = unopened(folder.path());
    let change = engine.propose_undo(None).unwrap();
    assert_eq!(engine.conclude_change(change, &caller()).unwrap().batch, Some(2));
}

#[test]
fn a_note_is_not_erased_with_a_text_that_nobody_was_shown() {
    let folder = memory(&[("a.md", "shown\n")]);
    let engine = unopened(folder.path());
    let target = ForgetTarget::Note(MemoryPath::parse("a.md").unwrap());
    let listed = engine.places_of(&target).unwrap();
    std::fs::write(folder.path().join("a.md"), "never shown\n").unwrap();
    let asked =
        |listed: &ForgetPreview| engine.forget(&target, RelatedLines::Keep, Some(listed), &Caller::person("cli"));
    assert_eq!(asked(&listed).unwrap_err().code, Code::Conflict);
    assert_eq!(std::fs::read_to_string(folder.path().join("a.md")).unwrap(), "never shown\n");
    let now = engine.places_of(&target).unwrap();
    assert_ne!(now.digest(), listed.digest(), "a page binds its form to the text");
    assert!(asked(&now).unwrap().erased);
    assert!(!folder.path().join("a.md").exists());
}

#[test]
fn a_name_of_two_letters_is_forgotten_where_that_is_a_word() {
    let folder = memory(&[("a.md", "# Me\n\n- 朋友: 健太\n- friend: Bo\n")]);
    let engine = engine(folder.path());
    let forget = |text: &str| {
        let target = ForgetTarget::Text(text.to_owned());
        engine.forget(&target, RelatedLines::Keep, None, &Caller::person("cli"))
    };
    for text in ["-", " ", "Bo", "健"] {
        assert_eq!(forget(text).unwrap_err().code, Code::Usage, "{text}");
    }
    assert!(forget("健太").unwrap().erased);
    let left = std::fs::read_to_string(folder.path().join("a.md")).unwrap();
    assert_eq!(left, "# Me\n\n- 朋友: \n- friend: Bo\n");
}

#[test]
fn a_card_that_shows_a_forgotten_note_is_listed_and_said_to_stay() {
    const CARD: &str = r#"{"nodes":[{"id":"1","type":"file","file":"bob.md"},{"id":"2","type":"text","text":"see [[bob]] hi"}],"edges":[]}"#;
    let alone = CARD.replace("see [[bob]] hi", "hi");
    let folder =
        memory(&[("bob.md", "# Bob\n"), ("c.canvas", CARD), ("d.canvas", &alone), ("e.canvas", r#"{"nodes":[]}"#)]);
    let engine = engine(folder.path());
    let target = ForgetTarget::Note(MemoryPath::parse("bob.md").unwrap());
    let told = |places: &[crate::ForgottenPlace]| {
        let told = places
            .iter()
            .map(|place| format!("{:?} {} {}", place.place, place.path.as_deref().unwrap_or_default(), place.count));
        told.collect::<Vec<_>>()
    };
    let listed = engine.places_of(&target).unwrap();
    assert_eq!(told(&listed.places), ["Note bob.md 1", "Link c.canvas 1", "Card c.canvas 1", "Card d.canvas 1"]);
    let forgotten = engine.forget(&target, RelatedLines::Keep, Some(&listed), &caller()).unwrap();
    assert_eq!(told(&forgotten.left), ["Card c.canvas 1", "Card d.canvas 1"]);
    assert_eq!(forgotten.left[0].advice(), "a card that shows the note stays as it is: delete it there");
    let now = std::fs::read_to_string(folder.path().join("c.canvas")).unwrap();
    assert_eq!(now, CARD.replace("[[bob]]", ""));
    assert_eq!(engine.places_of(&target).unwrap_err().code, Code::NotFound, "a card alone is nothing to erase");
}
