//! Tools of other servers in a chat: what the person sees, is asked, and switches.

use serde_json::{Map, Value, json};

use super::*;
use memdir_tools::Permission;
use memdir_tools::script::Scripted as Servers;

const CALL: &str = r#"<actions>[{"action":"calendar__list_events","day":"2026-11-24"}]</actions>"#;
const BYE: &str = "<reply>The dentist, at nine.</reply>";

fn with_calendar(permission: Permission, turns: &[&'static str]) -> (Talk, Arc<Servers>) {
    let says: Map<String, Value> =
        json!({"content": [{"type": "text", "text": "9:00 dentist\u{1b}[2J"}]}).as_object().unwrap().clone();
    let servers = Arc::new(Servers::default().with(("calendar", "list_events"), permission, says).unwrap());
    let toolbox: Arc<dyn Toolbox> = Arc::clone(&servers) as Arc<dyn Toolbox>;
    (Talk { toolbox: Some(toolbox), ..talk(turns) }, servers)
}

#[test]
fn a_server_is_switched_on_its_call_is_shown_and_asked_about() {
    let (chat, servers) = with_calendar(Permission::Ask, &[CALL, BYE]);
    let seen = chat.with(&["/tools", "/tools on calendar", "What is on today?", "c", "/tools off calendar", "/quit"]);
    assert!(seen.out.contains("calendar  off  1 tool, ready"), "{}", seen.out);
    assert!(seen.out.contains("calendar  on   1 tool, ready"), "{}", seen.out);
    assert!(seen.notes.contains("the model wants to call `calendar__list_events` with:"), "{}", seen.notes);
    assert!(seen.out.contains("\"day\": \"2026-11-24\""), "what is sent is shown: {}", seen.out);
    assert!(
        seen.notes.contains("calendar__list_events · 9:00 dentist") && seen.notes.contains(" · 7 ms"),
        "{}",
        seen.notes
    );
    assert!(!seen.notes.contains("\u{1b}[2J") && !seen.out.contains("\u{1b}[2J"), "what a tool says is escaped");
    assert_eq!(servers.calls().len(), 1);
    assert!(seen.prompts.iter().any(|prompt| prompt.contains("tools: calendar")), "{:?}", seen.prompts);
}

#[test]
fn with_a_no_nothing_is_sent() {
    let (chat, servers) = with_calendar(Permission::Ask, &[CALL, BYE]);
    let seen = chat.with(&["/tools on calendar", "What is on today?", "n", "/quit"]);
    assert_eq!(servers.calls(), []);
    assert!(seen.notes.contains("the person does not allow this call"), "{}", seen.notes);
}

#[test]
fn nobody_is_asked_in_a_pipe_and_mistakes_are_named() {
    let (chat, servers) = with_calendar(Permission::Ask, &[CALL, BYE]);
    let chat = Talk { is_attended: false, ..chat };
    let seen = chat.with(&["/tools on calender", "/tools up", "/tools on calendar", "What is on today?"]);
    assert_eq!(servers.calls(), []);
    assert!(seen.notes.contains("did you mean `calendar`?"), "{}", seen.notes);
    assert!(seen.notes.contains("say `/tools`, `/tools on NAME` or `/tools off NAME`"), "{}", seen.notes);
    let none = talk(&[]).with(&["/tools", "/quit"]);
    assert!(none.notes.contains("no server is registered"), "{}", none.notes);
}

#[test]
fn who_has_no_tools_is_told() {
    let (chat, _) = with_calendar(Permission::Ask, &[]);
    let seen = chat.with(&["/actions off", "/tools on calendar", "/quit"]);
    assert!(seen.notes.contains("and so no tools"), "{}", seen.notes);
}
