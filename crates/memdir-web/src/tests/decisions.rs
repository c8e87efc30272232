//! What waits, what was changed, who did it and what is forgotten: asked of the pages, checked against the files on the disk.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use memdir_core::action::{Action, Call};
use memdir_core::catalog;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Report};
use memdir_dialect::Parsed;
use memdir_engine::{Caller, ForgetTarget, ForgottenPlace};
use memdir_policy::{Grant, Rule};
use memdir_tools::ToolGrant;

use super::*;
use crate::{ClientToken, NewClient, PersonFiles, RegisteredClient};

/// The person's files, kept in this process.
#[derive(Default)]
pub(super) struct Files {
    rules: Mutex<Vec<Rule>>,
    clients: Mutex<Vec<RegisteredClient>>,
    opened: Mutex<Vec<String>>,
}

impl PersonFiles for Files {
    fn settings(&self) -> Result<crate::SettingsShown, Failure> {
        Ok(crate::SettingsShown::default())
    }

    fn add_rule(&self, rule: &Rule) -> Result<usize, Failure> {
        let mut rules = self.rules.lock().unwrap();
        rules.push(rule.clone());
        Ok(rules.len())
    }

    fn clients(&self) -> Result<Vec<RegisteredClient>, Failure> {
        Ok(self.clients.lock().unwrap().clone())
    }

    fn add_client(&self, wanted: NewClient) -> Result<ClientToken, Failure> {
        let grant = Grant::new(&wanted.read, &wanted.write, None);
        let grant = grant.map_err(|error| Failure::new(Code::Usage, error.to_string()))?;
        self.clients.lock().unwrap().push(RegisteredClient {
            name: wanted.name,
            read: wanted.read,
            write: wanted.write,
            hide: wanted.hide,
            actions: None,
            tools: ToolGrant::default(),
            expires: None,
            is_expired: false,
            rate: wanted.rate,
            may_approve: wanted.may_approve,
            created: Timestamp::from_seconds(0),
            grant: Arc::new(grant),
        });
        Ok(ClientToken::new("memdir_secret".to_owned()))
    }

    fn revoke_client(&self, name: &str) -> Result<(), Failure> {
        self.clients.lock().unwrap().retain(|client| client.name != name);
        Ok(())
    }

    fn open_note(&self, note: &MemoryPath) -> Result<(), Failure> {
        self.opened.lock().unwrap().push(note.to_string());
        Ok(())
    }

    fn drafts_holding(&self, _: &ForgetTarget) -> Result<Vec<ForgottenPlace>, Failure> {
        Ok(Vec::new())
    }

    fn remove_drafts_holding(&self, _: &ForgetTarget) -> Result<(), Failure> {
        Ok(())
    }
}

pub(super) async fn env(notes: &[(&str, &str)]) -> (Env, Arc<Files>) {
    let (env, files) = (Env::new(notes).await, Arc::new(Files::default()));
    env.site.set_person_files(Arc::clone(&files) as Arc<dyn PersonFiles>);
    (env, files)
}

fn action(name: &str, arguments: serde_json::Value) -> Action {
    catalog::decode(1, name, arguments.as_object().cloned().unwrap()).unwrap()
}

fn append(path: &str, content: &str) -> Action {
    action("append_file", serde_json::json!({"path": path, "content": content}))
}

/// A program sends calls in this mode.
fn send(env: &Env, client: &str, mode: Mode, actions: Vec<Action>) -> Report {
    let calls = (1..).zip(actions).map(|(index, action)| Call::plain(index, action));
    let caller = Caller { mode, ..Caller::model("mcp").for_client(Some(client.to_owned())) };
    let engine = env.site.engine();
    engine.conclude(engine.propose(Parsed::of(calls), caller))
}

fn digest(page: &str) -> String {
    between(page, r#"name="digest" value=""#, "\"").to_owned()
}

/// The texts of a page that a person reads.
fn words(page: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for letter in page.chars() {
        match letter {
            '<' => inside = true,
            '>' => {
                inside = false;
                text.push(' ');
            }
            _ if !inside => text.push(letter),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// All bytes of all files below a folder, as text.
fn bytes_below(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bytes_below(&path, all);
        } else {
            all.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
        }
    }
}

#[tokio::test]
async fn a_yes_carries_out_what_was_shown_and_nothing_else() {
    let (env, files) = env(&[("user.md", "- city: Porto\n")]).await;
    send(&env, "shelf", Mode::All, vec![append("user.md", "- pet: <cat>\n")]);
    assert_eq!(env.note("user.md"), "- city: Porto\n", "it waits");
    let list = env.get("/inbox").await.body;
    for part in ["shelf (mcp)", "1 proposal waits", "+- pet: &lt;cat&gt;"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let shown = digest(&list);
    // Somebody edits the note meanwhile: the yes is to something else.
    env.write("user.md", "- city: Lisbon\n");
    let answer = env.post("/inbox/1", &[("digest", &shown), ("answer", "yes")]).await;
    assert_eq!(answer.status, 409);
    assert_eq!(env.note("user.md"), "- city: Lisbon\n", "nothing is done");
    assert!(answer.body.contains(" - city: Lisbon"), "it is shown anew: {}", answer.body);
    let renewed = digest(&answer.body);
    assert_ne!(renewed, shown);
    let answer = env.post("/inbox/1", &[("digest", &renewed), ("answer", "yes")]).await;
    assert_eq!((answer.status, answer.header(LOCATION)), (303, "/inbox"));
    assert_eq!(env.note("user.md"), "- city: Lisbon\n- pet: <cat>\n");
    let after = env.get("/inbox").await.body;
    assert!(words(&after).contains("Proposal 1 is approved") && after.contains("Nothing waits"), "{after}");
    let batch = between(&after, r#"name="batch" value=""#, "\"").to_owned();
    env.post("/undo", &[("batch", &batch)]).await;
    assert_eq!(env.note("user.md"), "- city: Lisbon\n");
    assert!(files.rules.lock().unwrap().is_empty());
    let again = env.post("/inbox/1", &[("digest", &renewed), ("answer", "yes")]).await;
    assert_eq!(again.status, 404, "it is decided");
}

#[tokio::test]
async fn always_and_never_write_the_rules_that_were_shown() {
    let (env, files) = env(&[("user.md", "x\n")]).await;
    for _ in 0..2 {
        send(&env, "shelf", Mode::All, vec![append("user.md", "- pet: cat\n")]);
    }
    let page = env.get("/inbox/1").await.body;
    assert!(page.contains("allow  action append_file, path user.md, client shelf, detector change"), "{page}");
    let shown = digest(&page);
    let always = between(&page, r#"name="always" value=""#, "\"").to_owned();
    assert_eq!(env.post("/inbox/1", &[("digest", &shown), ("answer", "always"), ("always", &shown)]).await.status, 409);
    let fields = [("digest", shown.as_str()), ("answer", "always"), ("always", &always)];
    assert_eq!(env.post("/inbox/1", &fields).await.status, 303);
    let page = env.get("/inbox/2").await.body;
    let (renewed, never) = (digest(&page), between(&page, r#"name="never" value=""#, "\"").to_owned());
    let fields = |shown| [("digest", shown), ("answer", "never"), ("never", never.as_str())];
    for answer in ["no", "never"] {
        let late = env.post("/inbox/2", &[("digest", &always), ("answer", answer), ("never", &never)]).await;
        assert_eq!(late.status, 409, "{answer}: it was not shown");
    }
    assert_eq!(env.post("/inbox/2", &[("answer", "no")]).await.status, 409);
    assert_eq!(env.site.engine().waiting().unwrap().0.len(), 1, "it still waits");
    assert_eq!(env.post("/inbox/2", &fields(&renewed)).await.status, 303);
    let rules: Vec<String> = files.rules.lock().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(
        rules,
        [
            "allow  action append_file, path user.md, client shelf, detector change",
            "deny  action append_file, path user.md, client shelf"
        ]
    );
    assert_eq!(env.note("user.md"), "x\n- pet: cat\n", "once");
    assert!(
        words(&env.get("/inbox").await.body)
            .contains("Rule 2 gives the same answer in each program that starts memdir from now on")
    );
}

#[tokio::test]
async fn a_part_of_a_proposal_is_done_and_the_rest_dropped() {
    let (env, _) = env(&[("a.md", "a\n"), ("b.md", "b\n")]).await;
    let both = vec![append("a.md", "more a\n"), append("b.md", "more b\n")];
    let caller = Caller { mode: Mode::All, atomic: false, ..Caller::model("mcp").for_client(Some("shelf".to_owned())) };
    let calls = (1..).zip(both).map(|(index, action)| Call::plain(index, action));
    let engine = env.site.engine();
    drop(engine.conclude(engine.propose(Parsed::of(calls), caller)));
    let waiting = engine.waiting().unwrap().0;
    let Some(joined) = waiting.iter().find(|waiting| waiting.calls.len() == 2) else {
        // Calls on notes of their own wait each by itself, which is a part already.
        assert_eq!(waiting.len(), 2);
        let page = env.get("/inbox/2").await.body;
        env.post("/inbox/2", &[("digest", &digest(&page)), ("answer", "yes")]).await;
        let page = env.get("/inbox/1").await.body;
        env.post("/inbox/1", &[("digest", &digest(&page)), ("answer", "no")]).await;
        assert_eq!((env.note("a.md"), env.note("b.md")), ("a\n".to_owned(), "b\nmore b\n".to_owned()));
        return;
    };
    let address = format!("/inbox/{}", joined.id);
    let choice = env.get(&format!("{address}?parts")).await.body;
    assert_eq!(choice.matches(r#"type="checkbox""#).count(), 2, "{choice}");
    let page = env.get(&format!("{address}?calls=1")).await.body;
    assert!(page.contains("+more b") && !page.contains("+more a"), "{page}");
    let answer = env.post(&address, &[("digest", &digest(&page)), ("calls", "1"), ("answer", "yes")]).await;
    assert_eq!(answer.status, 303);
    assert_eq!((env.note("a.md"), env.note("b.md")), ("a\n".to_owned(), "b\nmore b\n".to_owned()));
    assert!(engine.waiting().unwrap().0.is_empty(), "the rest is dropped");
}

#[tokio::test]
async fn a_note_opens_in_the_editor_and_nothing_else_does() {
    let (env, files) = env(&[("user.md", "x\n")]).await;
    let page = env.get("/notes/user.md").await.body;
    assert!(page.contains(r#"action="/open/user.md""#), "{page}");
    assert_eq!(env.post("/open/user.md", &[]).await.header(LOCATION), "/notes/user.md");
    for address in ["/open/gone.md", "/open/..%2fuser.md", "/open/.memdir/a.md"] {
        assert!(env.post(address, &[]).await.status >= 400, "{address}");
    }
    assert_eq!(*files.opened.lock().unwrap(), ["user.md"]);
}

#[tokio::test]
async fn a_fact_tells_its_source_and_an_end_is_proposed_for_one_that_is_outdated() {
    let (env, _) = env(&[("user.md", "- pet: cat\n")]).await;
    let set =
        action("set_fact", serde_json::json!({"path": "user.md", "key": "city", "value": "[[places/faro|Faro]]"}));
    send(&env, "shelf", Mode::Off, vec![set]);
    let page = env.get("/notes/user.md").await.body;
    let facts = between(&page, r#"id="facts""#, "</section>");
    assert!(words(facts).contains("shelf"), "who said so: {facts}");
    assert!(words(&env.get("/").await.body).contains("city: Faro"), "a link reads as its text");
    let page = env.get("/line/user.md?line=2&outdated=true").await.body;
    assert!(page.contains("- city: [[places/faro|Faro]] (until 20"), "{page}");
    assert_eq!(env.note("user.md"), "- pet: cat\n- city: [[places/faro|Faro]]\n", "nothing is changed by looking");
}

#[tokio::test]
async fn history_says_what_was_done_and_takes_it_back_and_forth() {
    let (env, _) = env(&[("user.md", "- city: Porto\n")]).await;
    let set =
        |value: &str| vec![action("set_fact", serde_json::json!({"path": "user.md", "key": "city", "value": value}))];
    send(&env, "shelf", Mode::Off, set("Lisbon"));
    send(&env, "desk", Mode::Off, set("Faro"));
    let list = env.get("/history").await.body;
    for part in ["city: Porto → Lisbon", "city: Lisbon → Faro", "shelf (mcp)", "desk (mcp)"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    assert!(env.get("/history?client=desk").await.body.contains("Lisbon → Faro"));
    assert!(!env.get("/history?client=desk").await.body.contains("Porto → Lisbon"));
    let all = env.get("/history/1").await.body;
    assert!(all.contains("-- city: Porto") && all.contains("+- city: Lisbon") && all.contains("set_fact"), "{all}");
    // A later change is in the same place.
    let refused = env.post("/undo", &[("batch", "1")]).await;
    assert_eq!((refused.status, env.note("user.md").as_str()), (409, "- city: Faro\n"));
    assert!(refused.body.contains("class=\"diff\""), "{}", refused.body);
    assert_eq!(env.post("/undo", &[("batch", "2"), ("back", "/history")]).await.header(LOCATION), "/history");
    assert_eq!(env.note("user.md"), "- city: Lisbon\n");
    let list = env.get("/history").await.body;
    assert!(words(&list).contains("undid 2") && words(&list).contains("undone by 3"), "{list}");
    let button = |list: &str, batch: u64| list.contains(&format!(r#"<button aria-label="Undo: change {batch}">Undo<"#));
    assert!(button(&list, 3) && !button(&list, 2), "an undo may bring back or take away: {list}");
    env.post("/undo", &[("batch", "3")]).await;
    assert_eq!(env.note("user.md"), "- city: Faro\n", "the undo is undone");
    env.post("/undo", &[("batch", "2")]).await;
    let list = env.get("/history").await.body;
    assert!(button(&list, 5) && !button(&list, 4), "what change 4 brought back is undone: {list}");
    env.post("/undo", &[("batch", "5")]).await;
    assert_eq!(env.note("user.md"), "- city: Faro\n");
    let then = env.get("/restore/user.md?batch=1").await.body;
    assert!(then.contains("-- city: Faro") && then.contains("+- city: Lisbon"), "{then}");
    let shown = digest(&then);
    let edited = "- city: Faro\n- pet: cat\n";
    env.write("user.md", edited);
    let refused = env.post("/restore/user.md", &[("batch", "1"), ("digest", &shown)]).await;
    assert_eq!((refused.status, env.note("user.md").as_str()), (409, edited), "the pet was not in what was shown");
    assert!(refused.body.contains("-- pet: cat"), "{}", refused.body);
    let shown = digest(&refused.body);
    assert_eq!(
        env.post("/restore/user.md", &[("batch", "1"), ("digest", &shown)]).await.header(LOCATION),
        "/changes/user.md"
    );
    assert_eq!(env.note("user.md"), "- city: Lisbon\n");
    assert_eq!(env.get("/history/99").await.status, 404);
    assert_eq!(env.get("/history/x").await.status, 404);
}

#[tokio::test]
async fn the_audit_finds_every_entry_that_fits_once() {
    let (env, _) = env(&[("a.md", "a\n"), ("b.md", "b\n")]).await;
    let read = |path: &str| vec![action("read_file", serde_json::json!({"path": path}))];
    // Reading alone begins no history.
    send(&env, "press", Mode::Off, vec![append("a.md", "more\n")]);
    for number in 0..70 {
        let (client, path) = if number % 7 == 0 { ("desk", "b.md") } else { ("shelf", "a.md") };
        send(&env, client, Mode::Off, read(path));
    }
    env.site.engine().clean_up();
    let all = async |address: &str| {
        let (mut address, mut found, mut pages) = (address.to_owned(), BTreeSet::new(), 0);
        loop {
            let page = env.get(&address).await.body;
            for id in page.split("id=\"entry-").skip(1) {
                assert!(found.insert(id.split('"').next().unwrap().to_owned()), "each entry once");
            }
            pages += 1;
            if !page.contains(r#"id="more""#) {
                return (found.len(), pages);
            }
            let next = between(&page, r#"id="more" rel="next" href=""#, "\"");
            address = next.replace("&amp;", "&");
        }
    };
    assert_eq!(all("/audit?client=shelf").await, (60, 2));
    assert_eq!(all("/audit?client=desk&note=&door=mcp").await.0, 10);
    assert_eq!(all("/audit?note=b.md").await.0, 10);
    assert_eq!(all("/audit?action=write_file").await.0, 0);
    assert_eq!(all("/audit?from=2026-11-17&to=2026-11-20&client=desk").await.0, 10);
    assert_eq!(all("/audit?from=2026-11-20").await.0, 0);
    assert_eq!(all("/audit?to=2026-11-16").await.0, 0);
    assert!(env.get("/audit?from=never").await.body.contains("is no day"));
    let readers = words(&env.get("/readers/b.md").await.body);
    assert!(readers.contains("desk (mcp) 10 times, last"), "{readers}");
    assert!(!readers.contains("shelf"), "{readers}");
}

#[tokio::test]
async fn the_chain_is_checked_and_exported_whole() {
    let (env, _) = env(&[("a.md", "a\n")]).await;
    for number in 0..5 {
        send(&env, "shelf", Mode::Off, vec![append("a.md", &format!("line {number}\n"))]);
    }
    let page = words(&env.get("/audit/chain?check=1").await.body);
    assert!(page.contains("The chain is whole : 5 entries"), "{page}");
    let export = env.get("/audit/export").await;
    assert_eq!(export.header(CONTENT_TYPE), "application/x-ndjson");
    let lines: Vec<serde_json::Value> = export.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<i64> = lines.iter().map(|line| line["seq"].as_i64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    let head = lines[4]["hash"].as_str().unwrap().to_owned();
    let page = words(&env.get(&format!("/audit/chain?check=1&head={head}")).await.body);
    assert!(page.contains("0 came after the head"), "{page}");
    let none = "0".repeat(63) + "1";
    let page = words(&env.get(&format!("/audit/chain?check=1&head={none}")).await.body);
    assert!(page.contains("The chain is broken"), "{page}");
    assert!(words(&env.get("/audit/chain?check=1&head=x").await.body).contains("no head"));
}

#[tokio::test]
async fn a_client_is_added_looked_through_and_revoked() {
    let (env, _) = env(&[("work/a.md", "plan, see [[diary]]\n"), ("private/diary.md", "secret\n")]).await;
    send(&env, "press", Mode::Off, vec![append("work/a.md", "more\n")]);
    let fields = [("name", "shelf"), ("read", "work/**"), ("rate", "60")];
    let added = env.post("/new-client", &fields).await;
    assert_eq!(added.status, 200);
    assert!(added.body.contains("Authorization: Bearer memdir_secret"));
    let list = env.get("/clients").await.body;
    assert!(
        list.contains("work/**") && list.contains("at most 60 a minute") && !list.contains("memdir_secret"),
        "{list}"
    );
    let seen = env.get("/clients/shelf/notes").await.body;
    assert!(seen.contains("work/a.md") && !seen.contains("diary"), "{seen}");
    assert!(env.get("/clients/shelf/notes/work/a.md").await.body.contains("plan, see [[diary]]"));
    let hidden = env.get("/clients/shelf/notes/private/diary.md").await.body;
    assert!(hidden.contains("<code>denied</code>") && !hidden.contains("secret"), "{hidden}");
    env.site.engine().clean_up();
    let readers = words(&env.get("/readers/work/a.md").await.body);
    assert!(readers.contains("you once") && !readers.contains("shelf"), "the client has read nothing: {readers}");
    let wrong = env.post("/new-client", &[("name", "desk"), ("read", "work/**"), ("rate", "many")]).await;
    assert_eq!(wrong.status, 400);
    assert!(
        wrong.body.contains(r#"value="desk""#) && wrong.body.contains(r#"value="work/**""#),
        "nothing typed is lost"
    );
    assert!(env.get("/clients/shelf/revoke").await.body.contains("Revoke shelf?"));
    assert_eq!(env.post("/clients/shelf/revoke", &[]).await.header(LOCATION), "/clients");
    assert!(!env.get("/clients").await.body.contains("work/**"));
    assert_eq!(env.get("/clients/shelf/notes").await.status, 404);
}

#[tokio::test]
async fn what_is_forgotten_was_listed_and_is_nowhere_any_more() {
    let word = "quokkaesque";
    let (env, _) = env(&[("a.md", "- pet: quokkaesque\n- city: Porto\n"), ("b.md", "b\n")]).await;
    send(&env, "shelf", Mode::Off, vec![append("b.md", "also quokkaesque\n")]);
    send(&env, "shelf", Mode::All, vec![append("b.md", "waits, quokkaesque\n")]);
    let listed = env.post("/forget", &[("text", word)]).await;
    assert_eq!(listed.status, 200);
    for part in ["a.md", "b.md", "the history", "a proposal in the inbox"] {
        assert!(listed.body.contains(part), "{part}: {}", listed.body);
    }
    let shown = between(&listed.body, r#"name="shown" value=""#, "\"").to_owned();
    // By now it is in one more place.
    env.write("c.md", "quokkaesque\n");
    let answer = env.post("/forget", &[("text", word), ("shown", &shown)]).await;
    assert_eq!(answer.status, 409);
    assert!(env.note("a.md").contains(word), "nothing is erased");
    let shown = between(&answer.body, r#"name="shown" value=""#, "\"").to_owned();
    let done = env.post("/forget", &[("text", word), ("shown", &shown)]).await;
    assert_eq!(done.status, 200);
    assert!(done.body.contains("Nothing of it is left"), "{}", done.body);
    assert_eq!(env.note("a.md"), "- pet: \n- city: Porto\n");
    let mut all = String::new();
    bytes_below(env.folder.path(), &mut all);
    assert!(!all.contains(word));
    let again = env.post("/forget", &[("text", word)]).await;
    assert_eq!(again.status, 404);
    assert!(again.body.contains(r#"value="quokkaesque""#), "nothing typed is lost");
    let note = env.get("/forget/b.md").await.body;
    assert!(note.contains("Forget b.md?") && note.contains("a note"), "{note}");
}

#[tokio::test]
async fn no_page_is_larger_than_a_hundred_kilobytes() {
    let (env, _) = env(&[("a.md", "a\n")]).await;
    let long = "<&\"'>".repeat(6_000);
    for number in 0..12 {
        let path = format!("{}/{number}.md", "<&>".repeat(60));
        let path = path.replace(['<', '>', '&'], "x");
        let create = |path: String| {
            action(
                "create_file",
                serde_json::json!({"path": path, "content": format!("{long}\n{}", "y\n".repeat(3_000))}),
            )
        };
        send(&env, "shelf", Mode::Off, vec![create(path.clone())]);
        send(&env, "shelf", Mode::All, vec![create(format!("w{path}")), append("a.md", "x\n")]);
    }
    for address in
        ["/inbox", "/inbox/1", "/inbox/1?part=3", "/inbox/1?parts", "/history", "/history/1", "/audit", "/changes/a.md"]
    {
        let page = env.get(address).await;
        assert_eq!(page.status, 200, "{address}");
        assert!(page.body.len() <= 100 * 1024, "{address}: {}", page.body.len());
        assert!(!page.body.contains("<&"), "{address}");
    }
}

#[tokio::test]
async fn the_memory_is_shown_as_it_was_after_each_change() {
    let (env, _) = env(&[("user.md", "- city: Porto\n")]).await;
    assert!(words(&env.get("/past").await.body).contains("no history to go back through"));
    // What was done on three days before.
    let set = |value: &str| action("set_fact", serde_json::json!({"path": "user.md", "key": "city", "value": value}));
    let earlier: [(fn() -> Timestamp, Action); 3] = [
        (|| Timestamp::from_micros(1_794_000_000_000_000), set("Lisbon")),
        (
            || Timestamp::from_micros(1_794_100_000_000_000),
            action("create_file", serde_json::json!({"path": "cat.md", "content": "# Cat\n"})),
        ),
        (|| Timestamp::from_micros(1_794_200_000_000_000), set("Faro")),
    ];
    for (clock, done) in earlier {
        let dir = cap_std::fs::Dir::open_ambient_dir(env.folder.path(), cap_std::ambient_authority()).unwrap();
        let engine =
            Engine::new(Vault::new(dir, env.folder.path().to_owned(), Options::default()), Settings::new(clock));
        let report = engine.conclude(engine.propose(Parsed::of([Call::plain(1, done)]), Caller::model("mcp")));
        assert!(report.batch.is_some());
    }
    for (at, city, has_cat) in [(1, "Lisbon", false), (2, "Lisbon", true), (3, "Faro", true), (9, "Faro", true)] {
        let page = env.get(&format!("/past/user.md?at={at}")).await;
        let article = between(&page.body, "<article", "</article>");
        assert!(article.contains(city), "{at}: {article}");
        let list = env.get(&format!("/past?at={at}")).await.body;
        assert_eq!(list.contains(">cat.md<"), has_cat, "{at}: {list}");
        let slider = between(&list, r#"type="range""#, ">");
        assert!(slider.contains(r#"max="3""#) && slider.contains(&format!(r#"value="{}""#, at.min(3))), "{slider}");
    }
    let second = env.get("/past?at=2").await.body;
    assert!(second.contains("href=\"/past?at=1\"") && second.contains("href=\"/past?at=3\""), "{second}");
    assert_eq!(env.get("/past/cat.md?at=1").await.body.matches("<article").count(), 0);
}

#[tokio::test]
async fn each_change_of_one_second_is_a_step_and_a_day_leads_to_its_last() {
    let env = Env::new(&[]).await;
    // The clock of the pages stands still.
    for name in ["one", "two", "three"] {
        env.post("/new", &[("path", name), ("content", "x")]).await;
    }
    for (at, there, gone) in [(1, "one.md", "two.md"), (2, "two.md", "three.md"), (3, "three.md", "four.md")] {
        let page = env.get(&format!("/past?at={at}")).await.body;
        assert!(page.contains(&format!(">{there}<")) && !page.contains(&format!(">{gone}<")), "{at}: {page}");
        assert_eq!(page.contains(&format!("href=\"/past?at={}\"", at - 1)), at > 1, "{at}: {page}");
        assert_eq!(page.contains(&format!("href=\"/past?at={}\"", at + 1)), at < 3, "{at}: {page}");
    }
    assert_eq!(env.get("/past/two.md?at=1").await.body.matches("<article").count(), 0);
    assert_eq!(env.get("/past/two.md?at=2").await.body.matches("<article").count(), 1);
    // `date -u -d @1795000000` is 2026-11-18.
    assert!(words(&env.get("/past?at=2026-11-18").await.body).contains("change 3 of 3"));
    assert!(words(&env.get("/past?at=2026-11-17").await.body).contains("The history begins later"));
    let wrong = env.get("/past?at=soon").await;
    assert_eq!(wrong.status, 400);
    assert!(
        wrong.body.contains("a day such as 2026-11-16") && wrong.body.contains("href=\"/search\""),
        "{}",
        wrong.body
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_with_a_page() {
    let env = Env::new(&[("a.md", "x")]).await;
    let answers = [
        env.get("/notes/a.md?part=x").await,
        env.get("/notes/%ff").await,
        env.get("/clients/%ff").await,
        env.post("/undo", &[("batch", "soon")]).await,
        env.post("/answer", &[]).await,
    ];
    for answer in answers {
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.body.contains("aria-label=\"Pages\"") && answer.body.contains("role=\"alert\""), "{answer:?}");
    }
}
