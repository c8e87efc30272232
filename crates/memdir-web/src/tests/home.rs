//! Home and what a person says of a line; conversations, chat and settings.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use memdir_agent::{Edge, Event, Said, Written};
use memdir_core::report::Failure;
use memdir_dialect::Parsed;
use memdir_engine::Caller;
use memdir_policy::Rule;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::ChatModel;

const USER: &str = "# User\n\n- city: Lisbon\n- partner: [[people/ada]]\n- city of birth: Porto\n";

async fn env() -> Env {
    let env = Env::new(&[("user.md", USER), ("people/ada.md", "# Ada\n\n- plays: bass\n")]).await;
    turn(
        &env,
        "claude",
        r#"[{"action":"update_file","path":"user.md","old_content":"- city: Lisbon","new_content":"- city: Porto <b>"}]"#,
    );
    env
}

/// What a model of a client does.
fn turn(env: &Env, client: &str, actions: &str) {
    let parsed: Parsed = memdir_dialect::parse(format!("<actions>{actions}</actions>").as_bytes());
    let caller = Caller::model("mcp").for_client(Some(client.to_owned()));
    let engine = env.site.engine();
    let report = engine.conclude(engine.propose(parsed, caller));
    assert!(report.actions.iter().all(|outcome| outcome.result.is_ok()), "{report:?}");
}

#[tokio::test]
async fn home_tells_what_is_new_who_said_so_and_who_is_around() {
    let env = env().await;
    let page = env.get("/").await.body;
    assert!(between(&page, "id=\"summary\"", "</p>").contains("1 new change this week"), "{page}");
    let you = between(&page, "id=\"you\"", "</section>");
    assert!(you.contains("city: Porto &lt;b&gt;") && you.contains("a model (claude, mcp)"), "{you}");
    assert!(between(&page, "id=\"around\"", "</section>").contains("plays: bass"));
    let week = between(&page, "id=\"week\"", "</section>");
    assert!(week.contains("claude (mcp)") && week.contains(">- city: Porto &lt;b&gt;<"), "{week}");
    assert!(!week.contains("city of birth"), "only what the change wrote");
    assert!(page.len() < 100_000);
}

#[tokio::test]
async fn a_line_is_confirmed_corrected_and_taken_out_and_each_can_be_undone() {
    let env = env().await;
    let shown = "- city: Porto <b>";
    let answer = env.post("/confirm", &[("path", "user.md"), ("text", shown), ("back", "/")]).await;
    assert_eq!((answer.status, answer.header(LOCATION)), (303, "/"));
    let home = env.get("/").await.body;
    assert!(home.contains("Confirmed; the note is as it was") && home.contains("confirmed by you"), "{home}");
    assert_eq!(env.note("user.md"), USER.replace("Lisbon", "Porto <b>"));
    let line = env.get("/line/user.md?line=3").await.body;
    assert!(line.contains("Confirmed by you") && line.contains("Before, it said: Lisbon"), "{line}");
    let digest = between(&line, "name=\"digest\" value=\"", "\"");
    let form = [("line", "3"), ("text", shown), ("digest", digest)];
    let saved = env.post("/line/user.md", &[&form[..], &[("to", "- city: Porto")]].concat()).await;
    assert_eq!(saved.status, 303);
    assert_eq!(env.note("user.md"), USER.replace("Lisbon", "Porto"));
    // What was shown is gone: nothing is done, and what was typed stays.
    let late = env.post("/line/user.md", &[&form[..], &[("to", "- city: Faro")]].concat()).await;
    assert_eq!(late.status, 409);
    assert!(late.body.contains("\n- city: Faro</textarea>"), "{}", late.body);
    assert_eq!(env.note("user.md"), USER.replace("Lisbon", "Porto"));
    let line = env.get("/line/user.md?line=3").await.body;
    let digest = between(&line, "name=\"digest\" value=\"", "\"");
    let gone = env.post("/line/user.md", &[("line", "3"), ("text", "- city: Porto"), ("digest", digest)]).await;
    assert_eq!(gone.status, 303);
    assert_eq!(env.note("user.md"), USER.replace("- city: Lisbon\n", ""));
    let page = env.get("/notes/user.md").await.body;
    let batch = between(&page, "name=\"batch\" value=\"", "\"").to_owned();
    assert_eq!(env.post("/undo", &[("batch", &batch)]).await.status, 303);
    assert_eq!(env.note("user.md"), USER.replace("Lisbon", "Porto"));
    assert_eq!(env.get("/line/user.md?line=99").await.status, 404);
}

/// A model that echoes, and proposes nothing.
struct Echo;

impl ChatModel for Echo {
    fn described(&self) -> Result<String, Failure> {
        Ok("echo".to_owned())
    }

    fn answer(
        &self,
        _: &Engine,
        _: Option<&str>,
        message: &str,
        edge: &mut dyn Edge,
        _: &CancellationToken,
        said: &mut Said,
    ) -> Result<String, Failure> {
        edge.hear(Event::Written(Written::Reply(message)));
        said.number = 1;
        if message == "fail" {
            return Err(Failure::new(memdir_core::report::Code::ModelUnreachable, "the model is away"));
        }
        Ok("abc".to_owned())
    }
}

#[tokio::test]
async fn chat_streams_or_answers_whole_and_says_how_to_set_a_model() {
    let env = env().await;
    let page = env.get("/chat").await.body;
    assert!(
        page.contains("memdir model list") && !page.contains("<textarea") && !page.contains("id=\"stop\""),
        "{page}"
    );
    env.site.set_chat_model(Arc::new(Echo));
    assert!(env.get("/chat").await.body.contains("Model: echo"));
    let whole = env.post("/chat", &[("message", "hello <i>")]).await;
    assert_eq!((whole.status, whole.header(LOCATION)), (303, "/chat?session=abc#message-1"), "{}", whole.body);
    let failed = env.post("/chat", &[("message", "fail")]).await;
    assert!(failed.body.contains("The model is away") && failed.body.contains("\nfail</textarea>"), "{}", failed.body);
    let form = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("token", env.token.as_str()), ("message", "hello <i>")])
        .finish();
    let headers = [("cookie", env.cookie.as_str()), ("sec-fetch-site", "same-origin"), ("memdir-stream", "1")];
    let streamed = env.send(request(Method::POST, "/chat", &headers, &form)).await;
    assert_eq!(
        streamed.body.lines().collect::<Vec<_>>(),
        [r#"{"reply":"hello <i>"}"#, r#"{"end":"/chat?session=abc#message-1"}"#]
    );
    let late = env.post("/chat/answer", &[("proposal", "1"), ("digest", &digest()), ("answer", "yes")]).await;
    assert_eq!(late.status, 409, "nobody waits");
    let stopped = env.post("/chat/stop", &[]).await;
    assert_eq!(stopped.status, 303);
}

/// A model that begins an answer and ends it only when it is stopped.
struct Endless;

impl ChatModel for Endless {
    fn described(&self) -> Result<String, Failure> {
        Ok("endless".to_owned())
    }

    fn answer(
        &self,
        _: &Engine,
        _: Option<&str>,
        message: &str,
        edge: &mut dyn Edge,
        stop: &CancellationToken,
        _: &mut Said,
    ) -> Result<String, Failure> {
        edge.hear(Event::Written(Written::Reply(message)));
        while !stop.is_cancelled() {
            std::thread::yield_now();
        }
        Err(Failure::new(memdir_core::report::Code::Cancelled, "it was stopped"))
    }
}

#[tokio::test]
async fn ending_a_session_stops_its_answer() {
    let env = env().await;
    env.site.set_chat_model(Arc::new(Endless));
    let form = format!("token={}&message=hello", env.token);
    let headers = [("cookie", env.cookie.as_str()), ("sec-fetch-site", "same-origin"), ("memdir-stream", "1")];
    let asked = env.routes.clone().call(request(Method::POST, "/chat", &headers, &form)).await.unwrap();
    let mut lines = asked.into_body().into_data_stream();
    assert_eq!(lines.next().await.unwrap().unwrap(), "{\"reply\":\"hello\"}\n");
    let turn = env.site.talk.is_answering();
    assert_eq!((turn, env.post("/browsers/end", &[("browser", "1")]).await.status), (true, 303));
    // This long is waited only where it fails.
    let stopped = async {
        assert!(lines.next().await.is_none());
        while env.site.talk.is_answering() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), stopped).await.expect("the answer goes on");
}

fn digest() -> String {
    memdir_core::digest::Digest::of(b"x").to_string()
}

#[tokio::test]
async fn hiding_a_note_asks_first_and_says_how_to_take_it_back() {
    let env = env().await;
    let page = env.get("/hide/people/ada.md").await.body;
    assert!(page.contains("memdir rules remove NUMBER") && page.contains("people/ada.md"), "{page}");
    // Without the person's files nothing is written, and it is said.
    assert_eq!(env.post("/hide/people/ada.md", &[]).await.status, 503);
    let rule = Rule {
        action: Some("read_file".to_owned()),
        path: Some("people/ada.md".to_owned()),
        client: None,
        detector: None,
        verdict: memdir_policy::Verdict::Deny,
    };
    assert!(page.contains(&maud::html! { (rule) }.into_string()), "what would be written is shown");
    assert!(env.get("/conversations").await.body.contains("No conversation is kept yet"));
    assert_eq!(env.get("/conversations/nothing").await.status, 404);
}
