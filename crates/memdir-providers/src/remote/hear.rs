//! What comes back: the pieces of an answer as they come, and its end.
//!
//! The library keeps all that it has not yet made an event of, and makes events of what was never asked for. So it is
//! counted here what came, and how often something came that made no event: a server cannot make us hold more than some
//! megabytes.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use futures_util::Stream;
use genai::chat::{ChatFrameSink, ChatStream, ChatStreamEvent, FrameCtx, RawFrameRef, StopReason, StreamEnd, Usage};
use reqwest::header::HeaderMap;

use super::pieces::Pieces;
use super::provider::Form;
use super::shape;
use memdir_model::{Answer, End, Heard, Request};

/// The most bytes of an answer, of what was thought, and of calls that nobody asked for.
const MOST_BYTES: usize = 1 << 20;

/// The most bytes of all events of an answer, with all that is said around it.
const MOST_EVENT_BYTES: usize = 16 << 20;

/// How often bytes may come without completing an event. One arrival has a few hundred kilobytes at most, and the library
/// copies all that it has of an event each time.
const MOST_ARRIVALS: usize = 64;

/// For how long signs of life count for an event.
const LONGEST_SILENCE: Duration = Duration::from_secs(600);

/// How long is waited for what an answer cost, once it has ended, and through how many events.
const AFTER_END: Duration = Duration::from_secs(1);
const MOST_AFTER_END: usize = 4;

/// What counts for a call that nobody asked for, at least.
const CALL_BYTES: usize = 1 << 10;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Fault {
    /// What the library says.
    Library(genai::Error),
    /// What the connection says.
    Connection(reqwest::Error),
    /// The server answered with an error.
    Status {
        /// The status of HTTP.
        status: u16,
        headers: Box<HeaderMap>,
        body: String,
    },
    /// Nothing came in time.
    Silence,
    /// Too much came.
    Flood,
    /// It ended in the middle.
    BrokeOff,
    /// What came is not of the interface that was asked.
    NoInterface,
    /// The answer is held back, with the reason.
    Withheld(String),
    /// Instead of an answer there are calls of tools that nobody offered.
    Calls,
    /// A turn that began as JSON is none.
    NoTurn,
    /// It ended for a reason that is not known.
    Ended(String),
}

/// What came, counted below the events.
#[derive(Debug, Default)]
pub(super) struct Seen {
    events: AtomicUsize,
    bytes: AtomicUsize,
    has_data: AtomicBool,
    /// Whether the mark that ends a stream has come.
    has_end: AtomicBool,
    /// Why the server will not answer, which the library does not pass on.
    refusal: Mutex<String>,
    /// The event that is an error, which it does not pass on for every wire.
    error: Mutex<Option<String>>,
}

impl ChatFrameSink for Seen {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        self.events.fetch_add(1, Ordering::Relaxed);
        let before = self.bytes.fetch_add(frame.data.len(), Ordering::Relaxed);
        self.has_data.fetch_or(!frame.data.is_empty(), Ordering::Relaxed);
        let is_end = frame.data == "[DONE]" || frame.event == Some("message_stop");
        self.has_end.fetch_or(is_end, Ordering::Relaxed);
        if frame.event == Some("error") {
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(frame.data.to_owned());
        }
        let may_refuse = frame.data.contains("\"refusal\"") || frame.data.contains("\"blockReason\"");
        let event = if may_refuse && before < MOST_EVENT_BYTES { frame.json() } else { None };
        for place in ["/choices/0/delta/refusal", "/promptFeedback/blockReason"] {
            let said = event.as_ref().and_then(|event| event.pointer(place)?.as_str());
            let mut refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
            refusal.push_str(said.unwrap_or_default());
        }
    }
}

impl Seen {
    fn refusal(&self) -> Option<String> {
        let refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
        Some(refusal.clone()).filter(|refusal| !refusal.is_empty())
    }
}

/// An answer while it comes.
pub(super) struct Hearing<'a> {
    hear: &'a mut dyn FnMut(Heard<'_>),
    stop: &'a [String],
    /// What was told of an answer that is JSON, and what can be told of it.
    json: Option<(String, Pieces)>,
    /// Tokens of the request, if the server does not say.
    input_tokens: u64,
    seen: Arc<Seen>,
    text: String,
    thought: String,
    has_calls: bool,
    bytes: usize,
}

impl<'a> Hearing<'a> {
    pub(super) fn new(hear: &'a mut dyn FnMut(Heard<'_>), request: &'a Request, form: Option<Form>) -> Self {
        let bytes = request.system.len() + request.messages.iter().map(|message| message.text.len()).sum::<usize>();
        Self {
            hear,
            stop: &request.stop,
            json: form.is_some_and(Form::is_json).then(Default::default),
            input_tokens: tokens(bytes),
            seen: Arc::default(),
            text: String::new(),
            thought: String::new(),
            has_calls: false,
            bytes: 0,
        }
    }

    /// Who counts what comes.
    pub(super) fn seen(&self) -> Arc<Seen> {
        Arc::clone(&self.seen)
    }

    /// Whether anything of an answer has come.
    pub(super) fn has_heard(&self) -> bool {
        self.bytes > 0
    }

    /// Reads to the end of the answer.
    pub(super) async fn read(&mut self, mut stream: ChatStream) -> Result<Answer, Fault> {
        loop {
            let next = tokio::time::timeout(LONGEST_SILENCE, next(&mut stream, &self.seen)).await;
            let event = match next.map_err(|_| Fault::Silence)?? {
                Some(event) => event.map_err(|error| self.refused().unwrap_or(Fault::Library(error)))?,
                None => return Err(self.broke_off()),
            };
            match event {
                ChatStreamEvent::Chunk(chunk) => {
                    if self.take(&chunk.content)? {
                        let usage = tokio::time::timeout(AFTER_END, self.usage(&mut stream)).await;
                        return Ok(self.answer(End::Done, usage.ok().flatten()));
                    }
                }
                ChatStreamEvent::ReasoningChunk(chunk) => {
                    self.count(chunk.content.len())?;
                    self.thought.push_str(&chunk.content);
                    (self.hear)(Heard::Thought(&chunk.content));
                }
                ChatStreamEvent::ToolCallChunk(_) => {
                    self.has_calls = true;
                    self.count(CALL_BYTES)?;
                }
                ChatStreamEvent::End(end) => return self.end(end),
                ChatStreamEvent::Start | ChatStreamEvent::ThoughtSignatureChunk(_) | ChatStreamEvent::Heartbeat => {}
            }
        }
    }

    /// What an answer cost that has ended already, if the server says so before it writes on.
    async fn usage(&self, stream: &mut ChatStream) -> Option<Usage> {
        for _ in 0..MOST_AFTER_END {
            if let ChatStreamEvent::End(end) = next(stream, &self.seen).await.ok()??.ok()? {
                return end.captured_usage;
            }
        }
        None
    }

    fn count(&mut self, bytes: usize) -> Result<(), Fault> {
        self.bytes += bytes;
        if self.bytes > MOST_BYTES { Err(Fault::Flood) } else { Ok(()) }
    }

    /// Takes the next piece, and says whether the answer ends here: not all servers look for stop texts.
    fn take(&mut self, piece: &str) -> Result<bool, Fault> {
        self.count(piece.len())?;
        let before = self.text.len();
        self.text.push_str(piece);
        if let Some((told, pieces)) = &mut self.json {
            let more = pieces.more(&self.text);
            told.push_str(&more);
            if !more.is_empty() {
                (self.hear)(Heard::Text(&more));
            }
            return Ok(false);
        }
        let end = self.stop.iter().filter_map(|stop| found(&self.text, stop, before)).min();
        self.text.truncate(end.unwrap_or(self.text.len()));
        (self.hear)(Heard::Text(self.text.get(before..).unwrap_or_default()));
        Ok(end.is_some())
    }

    fn refused(&self) -> Option<Fault> {
        self.seen.refusal().map(Fault::Withheld)
    }

    fn broke_off(&self) -> Fault {
        if let Some(body) = self.seen.error.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Fault::Status { status: 0, headers: Box::default(), body };
        }
        if self.seen.has_data.load(Ordering::Relaxed) { Fault::BrokeOff } else { Fault::NoInterface }
    }

    fn end(&mut self, end: StreamEnd) -> Result<Answer, Fault> {
        if let Some(refused) = self.refused() {
            return Err(refused);
        }
        let why = match end.captured_stop_reason {
            // The library makes an end of every stream of Gemini, also of one that breaks off.
            None if self.seen.has_end.load(Ordering::Relaxed) => End::Done,
            None => return Err(self.broke_off()),
            Some(StopReason::MaxTokens(_)) => End::Cut,
            Some(StopReason::ContentFilter(reason)) => return Err(Fault::Withheld(reason)),
            Some(StopReason::ToolCall(_)) if self.text.is_empty() => return Err(Fault::Calls),
            Some(StopReason::Completed(_) | StopReason::StopSequence(_) | StopReason::ToolCall(_)) => End::Done,
            Some(StopReason::Other(reason)) if ["eos", "eos_token", "eosFound"].contains(&reason.as_str()) => End::Done,
            Some(StopReason::Other(reason)) => return Err(Fault::Ended(reason)),
        };
        if self.text.is_empty() && self.has_calls {
            return Err(Fault::Calls);
        }
        if let Some((told, _)) = self.json.take() {
            let turn = shape::turn(&self.text);
            self.text = match why {
                _ if turn.starts_with(&told) => turn,
                // What was cut off is no JSON; what was told of it begins the turn all the same.
                End::Cut => told.clone(),
                End::Done => return Err(Fault::NoTurn),
            };
            let rest = self.text.get(told.len()..).unwrap_or_default();
            if !rest.is_empty() {
                (self.hear)(Heard::Text(rest));
            }
        } else if let Some(stop) = (why == End::Done).then(|| left_out(&self.text, self.stop)).flatten() {
            self.text.push_str(stop);
            (self.hear)(Heard::Text(stop));
        }
        Ok(self.answer(why, end.captured_usage))
    }

    fn answer(&mut self, end: End, usage: Option<Usage>) -> Answer {
        let usage = usage.unwrap_or_default();
        let count =
            |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok()).filter(|tokens| *tokens > 0);
        let thought = std::mem::take(&mut self.thought);
        let text = std::mem::take(&mut self.text);
        Answer {
            end,
            input_tokens: count(usage.prompt_tokens).unwrap_or(self.input_tokens),
            output_tokens: count(usage.completion_tokens).unwrap_or_else(|| tokens(text.len() + thought.len())),
            line_chances: Vec::new(),
            reused_tokens: count(usage.prompt_tokens_details.and_then(|details| details.cached_tokens)).unwrap_or(0),
            thought: Some(thought).filter(|thought| !thought.is_empty()),
            text,
        }
    }
}

/// The next event, unless too much came for it.
async fn next(stream: &mut ChatStream, seen: &Seen) -> Result<Option<genai::Result<ChatStreamEvent>>, Fault> {
    let (mut events, mut arrivals) = (0, 0);
    poll_fn(|context| {
        let polled = Pin::new(&mut *stream).poll_next(context);
        if seen.bytes.load(Ordering::Relaxed) > MOST_EVENT_BYTES {
            return Poll::Ready(Err(Fault::Flood));
        }
        let now = seen.events.load(Ordering::Relaxed);
        (events, arrivals) = if now > events { (now, 0) } else { (events, arrivals + 1) };
        match polled {
            Poll::Ready(event) => Poll::Ready(Ok(event)),
            Poll::Pending if arrivals > MOST_ARRIVALS => Poll::Ready(Err(Fault::Flood)),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// A token for each four bytes.
fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

/// Where a stop text ends in a text of which all but what follows `before` was looked through already.
fn found(text: &str, stop: &str, before: usize) -> Option<usize> {
    let from = text.floor_char_boundary(before.saturating_sub(stop.len()));
    let at = text.get(from..)?.find(stop).filter(|_| !stop.is_empty())?;
    Some(from + at + stop.len())
}

/// The stop text that a server has left out: servers end an answer before it, and here it is part of it. Only the closing
/// tag of a block that is still open can be told.
fn left_out<'a>(text: &str, stop: &'a [String]) -> Option<&'a str> {
    let open = |stop: &&String| {
        let name = stop.strip_prefix("</")?;
        let opened = text.rfind(&format!("<{name}"))?;
        text.rfind(stop.as_str()).is_none_or(|closed| closed < opened).then_some(opened)
    };
    if stop.iter().any(|stop| text.trim_end().ends_with(stop.as_str())) {
        return None;
    }
    // Of several open blocks the last can have been ended.
    stop.iter().filter_map(|stop| Some((open(&stop)?, stop))).max().map(|(_, stop)| stop.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_text_is_found_across_pieces_and_once() {
        assert_eq!(found("ab</r>cd", "</r>", 0), Some(6));
        assert_eq!(found("ab</r>", "</r>", 4), Some(6));
        assert_eq!(found("é</r>", "</r>", 3), Some(6));
        assert_eq!(found("éééé", "</r>", 7), None);
        assert_eq!(found("abc", "", 0), None);
    }

    #[test]
    fn a_stop_text_that_was_left_out_is_told_by_what_is_open() {
        let stop = ["</reply>".to_owned(), "</actions>".to_owned(), "\n\n".to_owned()];
        for (text, expected) in [
            ("<reply>Hi.", Some("</reply>")),
            ("<reply>Hi.</reply>", None),
            ("<think>x</think><actions>[]", Some("</actions>")),
            ("<reply>a</reply> <actions>[]", Some("</actions>")),
            ("<actions>[{\"a\":\"<reply>\"}]</actions>", None),
            ("Hi.", None),
            ("", None),
        ] {
            assert_eq!(left_out(text, &stop), expected, "{text}");
        }
    }
}
