//! Chat: the agent of the memory on the page. With the script the answer streams and its questions stand in it; without it the form
//! waits for the whole answer, and what needs a yes waits in the inbox.

use std::convert::Infallible;
use std::sync::Arc;
use std::thread;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Redirect, Response};
use futures_util::stream;
use maud::{Markup, html};
use memdir_agent::{Decision, Said};
use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure};
use memdir_engine::{Reviewed, standing};
use memdir_policy::Verdict;
use memdir_words::said;
use serde::Deserialize;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{conversations, rules};
use crate::door::{Notice, Visitor};
use crate::layout::{self, Page, Section};
use crate::sent::{Form, Query};
use crate::site::{Site, Then};
use crate::talk::{PageEdge, Told};

/// The script asks by it to be told of the answer while that is written.
const STREAM: &str = "memdir-stream";
/// The longest message, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// So much of a diff stands in a question; what is longer is decided in the inbox.
const DIFF_BYTES: usize = 24 * 1024;

/// Which conversation.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    session: Option<String>,
}

/// A message.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    session: Option<String>,
    message: String,
}

/// An answer to a question.
#[derive(Debug, Deserialize)]
pub(crate) struct Answered {
    proposal: u64,
    /// What was shown.
    digest: String,
    answer: Answer,
    /// The digest of the rules that were shown, of an always or never.
    rules: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Yes,
    No,
    Later,
    Always,
    Never,
}

pub(crate) async fn show(State(site): State<Arc<Site>>, visitor: Visitor, Query(asked): Query<Asked>) -> Response {
    let session = asked.session.filter(|session| !session.is_empty());
    site.show(&visitor, move |site, visitor| page(site, visitor, session.as_deref(), None)).await
}

/// The page of a conversation; with the message that was not answered, and why, where there is one.
fn page(
    site: &Site,
    visitor: &Visitor,
    session: Option<&str>,
    refused: Option<(&Failure, &str)>,
) -> Result<Page, Failure> {
    let messages = session.map(|id| conversations::messages(site, id)).transpose()?.unwrap_or_default();
    let model = site.talk.model().and_then(|model| model.described());
    let main = html! {
        h1 { "Chat" }
        @match &model {
            Ok(model) => p .quiet { "Model: " (model) },
            Err(failure) => {
                (layout::problem(failure))
                @if failure.hint.is_none() {
                    p { code { "memdir model list" } " shows which models there are, and " code { "[model] name = \"…\"" } " in the settings file names one." }
                }
                p .quiet { "Once one is set, start " code { "memdir serve" } " again." }
            }
        }
        @if let Some(id) = session { (conversations::talk(site, visitor, id, &messages, messages.len().saturating_sub(20))) }
        @if let Some((failure, _)) = refused { (layout::problem(failure)) }
        @if model.is_ok() {
            div #answer aria-live="polite" {}
            form #chat method="post" action="/chat" data-chat {
                input type="hidden" name=(crate::door::TOKEN) value=(visitor.token());
                @if let Some(id) = session { input type="hidden" name="session" value=(id); }
                div .field {
                    label for="message" { "Your message" }
                    textarea #message .short name="message" required { "\n" (refused.map_or("", |(_, text)| text)) }
                }
                div .row {
                    button #send .main { "Send" }
                    a .button href="/chat" { "New conversation" }
                    a .button href="/conversations" { "Earlier ones" }
                }
            }
            div data-idle[!site.talk.is_answering()] {
                (layout::post(visitor, "/chat/stop", html! { button #stop { "Stop the answer" } }))
            }
        } @else {
            p { a .button href="/conversations" { "Earlier conversations" } }
        }
    };
    Ok(Page::new("Chat", Section::Chat, main))
}

pub(crate) async fn say(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    headers: HeaderMap,
    Form(sent): Form<Sent>,
) -> Response {
    if headers.contains_key(STREAM) {
        let (out, told) = mpsc::unbounded_channel();
        let ended = visitor.ended();
        answer_on_thread(site, visitor, sent, Some(out));
        let lines = stream::unfold((told, ended), async |(mut told, ended)| {
            let more = ended.run_until_cancelled(told.recv()).await??;
            let line = serde_json::to_string(&more).unwrap_or_default();
            Some((Ok::<_, Infallible>(Bytes::from(line + "\n")), (told, ended)))
        });
        return ([(CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response();
    }
    let message = sent.message.clone();
    let session = sent.session.clone();
    let done = answer_on_thread(Arc::clone(&site), visitor.clone(), sent, None);
    match done.await {
        Ok(Ok(address)) => Redirect::to(&address).into_response(),
        Ok(Err(failure)) => {
            // What was typed stays in the field.
            let refused = move |site: &Site, visitor: &Visitor| {
                page(site, visitor, session.as_deref().filter(|id| !id.is_empty()), Some((&failure, &message)))
            };
            site.show(&visitor, refused).await
        }
        Err(_) => site.failed(&visitor, &Failure::new(Code::Internal, "the message was not answered")),
    }
}

/// Answers a message on a thread of its own: a model may take minutes. It is stopped when the browser's session or the site ends. Gives
/// the address of the conversation.
fn answer_on_thread(
    site: Arc<Site>,
    visitor: Visitor,
    sent: Sent,
    out: Option<mpsc::UnboundedSender<Told>>,
) -> oneshot::Receiver<Result<String, Failure>> {
    let (tell, told) = oneshot::channel();
    let failed = out.clone();
    let stop = site.closing().child_token();
    let (ended, watched, is_over) = (visitor.ended(), stop.clone(), stop.clone().drop_guard());
    tokio::spawn(async move {
        // Whichever comes first: the end of the session, or of the answer.
        ended.run_until_cancelled(watched.cancelled()).await;
        watched.cancel();
    });
    let work = move || {
        let _is_over = is_over;
        let answered = memdir_server::catch_panic(|| answer(&site, &visitor, &sent, out.clone(), &stop));
        let answered = answered.unwrap_or_else(|_| {
            Err(Failure::new(Code::Internal, "something went wrong inside memdir; please report what you did"))
        });
        site.changed();
        if let Some(out) = out {
            let end = match &answered {
                Ok(address) => Told::End(address.clone()),
                Err(failure) => Told::Failed(layout::problem(failure).into_string()),
            };
            // Somebody who has left the page still finds the conversation.
            let _ = out.send(end);
        }
        // As above.
        let _ = tell.send(answered);
    };
    if let Err(error) = thread::Builder::new().name("chat".to_owned()).spawn(work) {
        tracing::error!(%error, "a message is not answered");
        if let Some(out) = failed {
            // As above.
            let _ = out.send(Told::Failed("The system gives no thread. Try again.".to_owned()));
        }
    }
    told
}

fn answer(
    site: &Site,
    visitor: &Visitor,
    sent: &Sent,
    out: Option<mpsc::UnboundedSender<Told>>,
    stop: &CancellationToken,
) -> Result<String, Failure> {
    let message = sent.message.trim();
    if message.is_empty() || message.len() > MOST_BYTES {
        return Err(Failure::new(Code::Usage, "the message is empty or too long").with_hint("send a shorter one"));
    }
    site.engine().check_place()?;
    let model = site.talk.model()?;
    let _turn = site.talk.begin(stop.clone())?;
    let card = |reviewed: &Reviewed| card(visitor, reviewed);
    let mut edge = PageEdge { talk: &site.talk, out, stop: stop.clone(), card: &card };
    let mut done = Said::default();
    let session = sent.session.as_deref().filter(|session| !session.is_empty());
    let id = model.answer(site.engine(), session, message, &mut edge, stop, &mut done)?;
    let mut notice = Notice::of(Some(said::stored(&done)), done.batches.last().copied());
    notice.issues.extend(done.pending.iter().map(|id| format!("proposal {id} waits for you in the inbox")));
    visitor.leave(notice);
    Ok(format!("/chat?session={}#message-{}", crate::href::value(&id), done.number))
}

/// A question to the person in the middle of an answer.
fn card(visitor: &Visitor, reviewed: &Reviewed) -> Markup {
    let waiting = &reviewed.waiting;
    let known = html! {
        input type="hidden" name="proposal" value=(waiting.id);
        input type="hidden" name="digest" value=(waiting.digest);
    };
    let is_whole = waiting.diff.len() <= DIFF_BYTES;
    let words: &[(&str, &str)] = if is_whole {
        &[("yes", "Yes"), ("no", "No"), ("later", "Later")]
    } else {
        &[("no", "No"), ("later", "Later")]
    };
    let rules = |verdict| standing(waiting, verdict).ok().filter(|rules| is_whole && !rules.is_empty());
    let answers = [("always", "Always", rules(Verdict::Allow)), ("never", "Never", rules(Verdict::Deny))];
    html! {
        section .card .question role="group" aria-labelledby={ "question-" (waiting.id) } {
            h3 id={ "question-" (waiting.id) } { "May this be stored?" }
            p { (layout::sentence(&waiting.reason)) }
            @if is_whole { (layout::diff(&waiting.diff)) } @else {
                p { "It is too long to be shown here: say later, and look at it " a href={ "/inbox/" (waiting.id) } { "in the inbox" } "." }
            }
            div .row {
                @for (answer, word) in words {
                    form method="post" action="/chat/answer" data-answer {
                        input type="hidden" name=(crate::door::TOKEN) value=(visitor.token());
                        (known)
                        input type="hidden" name="answer" value=(answer);
                        button { (word) }
                    }
                }
            }
            @for (answer, word, rules) in &answers {
                @if let Some(rules) = rules {
                    form method="post" action="/chat/answer" data-answer {
                        input type="hidden" name=(crate::door::TOKEN) value=(visitor.token());
                        (known)
                        input type="hidden" name="answer" value=(answer);
                        input type="hidden" name="rules" value=(rules::digest_of(rules));
                        button { (word) }
                        ul { @for rule in rules { li { code { (rule) } } } }
                    }
                }
            }
        }
    }
}

pub(crate) async fn decide(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Form(answered): Form<Answered>,
) -> Response {
    site.show(&visitor, move |site, _| {
        let shown = Digest::parse(&answered.digest)
            .map_err(|_| Failure::new(Code::Usage, "the form does not say what was shown"))?;
        let verdict = match answered.answer {
            Answer::Always => Some(Verdict::Allow),
            Answer::Never => Some(Verdict::Deny),
            Answer::Yes | Answer::No | Answer::Later => None,
        };
        let rules = verdict
            .map(|verdict| rules::rules_as_shown(site, answered.proposal, verdict, answered.rules.as_deref()))
            .transpose()?;
        site.talk.decide(answered.proposal, shown, answered.answer.decision())?;
        let settled: Vec<String> = rules.iter().flatten().map(|rule| rules::settle(site, rule)).collect();
        let main = html! { h1 { "Answered" } @for line in &settled { p { (layout::sentence(line)) } } p { a href="/chat" { "Back to the chat" } } };
        Ok(Page::new("Answered", Section::Chat, main))
    })
    .await
}

impl Answer {
    fn decision(self) -> Decision {
        match self {
            Self::Yes | Self::Always => Decision::Yes,
            Self::No | Self::Never => Decision::No,
            Self::Later => Decision::Later,
        }
    }
}

pub(crate) async fn stop(
    State(site): State<Arc<Site>>,
    visitor: Visitor,
    Form(_): Form<Vec<(String, String)>>,
) -> Response {
    site.change(&visitor, |site, _| {
        let text =
            if site.talk.stop() { "Stopped; what was done before is done" } else { "No answer was being written" };
        Ok(Then::Go { to: "/chat".to_owned(), notice: Notice::of(Some(text.to_owned()), None) })
    })
    .await
}
