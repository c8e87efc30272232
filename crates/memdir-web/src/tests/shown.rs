//! What is decided about is seen as it is, and what was shown is in the audit.

use memdir_core::action::Call;
use memdir_core::catalog;
use memdir_dialect::Parsed;
use memdir_engine::Caller;

use super::decisions::Files;
use super::*;

/// Characters that turn a line round or take no place, as HTML would send them: none of them may reach a page of a decision.
const UNSEEN: &[char] = &['\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}', '\u{e0041}', '\u{1b}'];

#[tokio::test]
async fn a_proposal_is_shown_with_all_that_it_holds() {
    let env = Env::new(&[("a.md", "# A\n")]).await;
    let text: String = UNSEEN.iter().collect();
    let arguments = serde_json::json!({"path": "a.md", "content": format!("phone: 912 {text}876\n")});
    let append = catalog::decode(1, "append_file", arguments.as_object().cloned().unwrap()).unwrap();
    let caller = Caller { mode: Mode::All, ..Caller::model("mcp").for_client(Some(format!("she{text}lf"))) };
    let engine = env.site.engine();
    drop(engine.conclude(engine.propose(Parsed::of([Call::plain(1, append)]), caller)));
    let id = engine.waiting().unwrap().0[0].id;
    for address in ["/inbox".to_owned(), format!("/inbox/{id}")] {
        let page = env.get(&address).await;
        assert_eq!(page.status, 200, "{address}");
        assert!(!page.body.contains(UNSEEN), "{address}: {}", page.body.escape_debug());
        assert!(
            page.body.contains("912 \\u{202e}\\u{2066}\\u{200b}\\u{feff}\\u{e0041}\\u{1b}876"),
            "{address}: {}",
            page.body
        );
    }
}

#[tokio::test]
async fn a_line_that_is_decided_about_is_shown_with_all_that_it_holds() {
    let text: String = UNSEEN.iter().collect();
    let env = Env::new(&[("a.md", &format!("# A\n\n- phone: 912 {text}876\n"))]).await;
    let page = env.get("/line/a.md?line=3").await.body;
    let line = between(&page, "<blockquote id=\"line\">", "</blockquote>");
    let diff = between(&page, "<pre class=\"diff\">", "</pre>");
    for shown in [line, diff] {
        assert!(
            shown.contains("912 \\u{202e}\\u{2066}\\u{200b}") && !shown.contains(UNSEEN),
            "{}",
            shown.escape_debug()
        );
    }
}

/// A memory with a history, without which nobody notes who reads.
async fn kept(notes: &[(&str, &str)]) -> Env {
    let env = Env::new(notes).await;
    assert_eq!(env.post("/new", &[("path", "first.md"), ("content", "x")]).await.status, 303);
    env.get("/notes").await;
    env
}

/// How often the audit has noted that the person was shown a note.
fn reads(env: &Env, path: &str) -> usize {
    let engine = env.site.engine();
    engine.clean_up();
    let path = memdir_core::path::MemoryPath::parse(path).unwrap();
    engine.readers(&path, 100, None).unwrap().readers.iter().filter(|reader| reader.door == "web").count()
}

#[tokio::test]
async fn a_page_that_is_fetched_again_is_a_reading_unless_the_same_text_was_shown() {
    let env = kept(&[("a.md", "one\n")]).await;
    let again = async || {
        let headers = [("cookie", env.cookie.as_str()), ("memdir-refresh", "1")];
        env.send(request(Method::GET, "/notes/a.md", &headers, "")).await.body
    };
    assert!(again().await.contains("one"));
    assert_eq!(reads(&env, "a.md"), 1, "nobody had opened it");
    assert!(again().await.contains("one"));
    assert_eq!(reads(&env, "a.md"), 1);
    env.write("a.md", "two\n");
    assert!(again().await.contains("two"));
    assert_eq!(reads(&env, "a.md"), 2, "this is another text");
    env.get("/notes/a.md").await;
    assert_eq!(reads(&env, "a.md"), 3, "a person opens it once more");
}

#[tokio::test]
async fn home_is_a_reading_of_the_notes_that_it_tells_of() {
    let env = kept(&[("user.md", "# Me\n\n- city: Porto\n- friend: [[ada]]\n"), ("ada.md", "- job: potter\n")]).await;
    for _ in 0..2 {
        let home = env.get("/").await.body;
        assert!(home.contains("Porto") && home.contains("potter"));
        assert_eq!((reads(&env, "user.md"), reads(&env, "ada.md")), (1, 1));
    }
}

#[tokio::test]
async fn a_search_while_the_person_types_leaves_the_notice_to_the_next_page() {
    let env = Env::new(&[("a.md", "one\n")]).await;
    assert_eq!(env.post("/new", &[("path", "first.md"), ("content", "x")]).await.status, 303);
    let headers = [("cookie", env.cookie.as_str()), ("memdir-typing", "now")];
    let typed = env.send(request(Method::GET, "/search?q=o", &headers, "")).await.body;
    assert!(!typed.contains(r#"id="notice""#));
    assert!(env.get("/notes/first.md").await.body.contains(r#"name="undo""#));
}

#[tokio::test]
async fn a_search_as_one_types_is_noted_where_it_shows_something_new_and_after_a_pause() {
    let env = kept(&[("jane.md", "Jane plays.\n"), ("jack.md", "Jack sails.\n")]).await;
    let ask = async |query: &str, typing: &str| {
        let headers = [("cookie", env.cookie.as_str()), ("memdir-typing", typing)];
        env.send(request(Method::GET, &format!("/search?q={query}&mode=text"), &headers, "")).await.body
    };
    let searches = || {
        env.site.engine().clean_up();
        let records = env.site.engine().records(i64::MIN).unwrap();
        let searches = records.iter().filter(|record| record.action == "search_files");
        searches.map(|record| record.payload.as_ref().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert!(ask("j", "now").await.contains("/notes/jack.md"));
    assert_eq!((searches().len(), reads(&env, "jack.md"), reads(&env, "jane.md")), (1, 1, 1), "both were shown");
    for query in ["ja", "jan", "jane", "janex"] {
        assert_eq!(ask(query, "now").await.contains("/notes/jane.md"), query != "janex");
    }
    assert_eq!(searches().len(), 1, "nothing was shown that had not been");
    assert!(ask("jane", "paused").await.contains("/notes/jane.md"));
    let noted = searches();
    assert!(noted.len() == 2 && noted[1].contains("\"jane\""), "what was looked for: {noted:?}");
    env.write("jack.md", "Jack sails to Jane.\n");
    assert!(ask("jane", "now").await.contains("/notes/jack.md"));
    assert_eq!((searches().len(), reads(&env, "jack.md")), (3, 2), "this text is another one");
    // What is asked without the script is noted each time.
    env.get("/search?q=jane&mode=text").await;
    assert_eq!(searches().len(), 4);
}

#[tokio::test]
async fn lines_of_other_notes_beside_a_note_are_a_reading_of_those() {
    let line = |pin: u32| format!("- plan with [[hub]]: pin {pin}\n");
    let env = kept(&[("hub.md", "# Hub\n"), ("a.md", &line(4711)), ("b.md", &line(4712)), ("c.md", "# C\n")]).await;
    env.site.set_person_files(Arc::new(Files::default()));
    assert!(env.get("/forget/hub.md").await.body.contains("pin 4711"));
    assert_eq!(["a.md", "b.md", "c.md"].map(|path| reads(&env, path)), [1, 1, 0]);
    env.write("a.md", &line(4713));
    for _ in 0..2 {
        assert!(env.get("/notes/hub.md").await.body.contains("pin 4713"));
        assert_eq!(["a.md", "b.md", "c.md"].map(|path| reads(&env, path)), [2, 1, 0], "each text once");
    }
}

#[tokio::test]
async fn all_links_to_a_note_are_listed_on_the_pages_that_follow() {
    let notes: Vec<(String, String)> =
        (0..700).map(|number| (format!("n{number:03}.md"), format!("line {number} about [[hub]]\n"))).collect();
    let mut notes: Vec<(&str, &str)> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    notes.push(("hub.md", "# Hub\n"));
    let env = Env::new(&notes).await;
    let (mut address, mut seen) = ("/notes/hub.md".to_owned(), std::collections::BTreeSet::new());
    for page in 0.. {
        let answer = env.get(&address).await;
        assert_eq!(answer.status, 200, "{address}");
        assert!(answer.body.len() <= 100 * 1024 && page < 20, "{address}: {}", answer.body.len());
        seen.extend((0..700).filter(|number| answer.body.contains(&format!("line {number} about"))));
        let Some((_, more)) = answer.body.split_once(r#"id="more-links" rel="next" href=""#) else { break };
        address = more.split('"').next().unwrap().replace("&amp;", "&");
    }
    assert_eq!(seen.len(), 700);
}

#[tokio::test]
async fn lines_that_were_not_all_listed_cannot_be_erased_from_the_page() {
    let text = format!("[[hub]] {}\n", "x".repeat(200));
    let names: Vec<String> = (0..300).map(|number| format!("n{number:03}.md")).collect();
    let mut notes: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text.as_str())).collect();
    notes.push(("hub.md", "# Hub\n"));
    let env = Env::new(&notes).await;
    env.site.set_person_files(Arc::new(Files::default()));
    let page = env.get("/forget/hub.md").await.body;
    assert!(page.contains("Erase all of this") && page.contains("memdir forget --lines<"), "{page}");
    assert!(!page.contains(r#"name="lines""#));
    for name in &names[2..] {
        std::fs::remove_file(env.folder.path().join(name)).unwrap();
    }
    assert!(env.get("/forget/hub.md").await.body.contains(r#"name="lines""#), "two are listed");
}
