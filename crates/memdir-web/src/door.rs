//! [`Door`]: which browsers may see the page.
//!
//! A browser comes with a code that works once, within ten minutes, and gets a cookie for it. What it has to show from then on the
//! [guard](crate::guard) looks at. All of it is kept in this process only, and compared in a time that says nothing.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use axum::extract::{FromRequestParts, Request};
use axum::http::header::{COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE, USER_AGENT};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::Report;
use memdir_plan as plan;
use memdir_server::{Names, lock, only};
use subtle::ConstantTimeEq;
use tokio_util::sync::CancellationToken;

use crate::refusal::Refusal;
use crate::text;

/// Where a browser comes in with its code.
pub(crate) const ENTRANCE: &str = "/enter";
/// The field of a form that holds the token.
pub(crate) const TOKEN: &str = "token";
/// What the script sends when it fetches a page again by itself.
const REFRESH: HeaderName = HeaderName::from_static("memdir-refresh");
/// What the script sends when it searches while the person types: `now` with each key, and `paused` once they have stopped.
const TYPING: HeaderName = HeaderName::from_static("memdir-typing");
pub(crate) const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");

/// A code that was not used lets nobody in after this time: it stands in what the terminal has shown.
const CODE_LIFE: Duration = Duration::from_secs(10 * 60);
/// So many browsers may be in; one more, and the one that came first has to come again.
const MOST_SESSIONS: usize = 32;
/// So much of what a browser calls itself is told.
const MOST_NAME: usize = 120;

/// 256 random bits as hexadecimal digits.
#[derive(Clone)]
struct Secret(String);

impl Secret {
    fn new() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    fn is(&self, said: &str) -> bool {
        self.0.as_bytes().ct_eq(said.as_bytes()).into()
    }
}

/// A code that lets one browser in, once.
pub struct EntryCode(Secret);

impl EntryCode {
    /// The address, below that of the server, at which it is shown: `/enter?code=…`.
    #[must_use]
    pub fn address(&self) -> String {
        format!("{ENTRANCE}?code={}", self.0.0)
    }
}

impl fmt::Debug for EntryCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("EntryCode")
    }
}

/// Something that is said once above the next page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notice {
    /// One line, such as a receipt.
    pub(crate) text: String,
    /// What was noticed beside it.
    pub(crate) issues: Vec<String>,
    /// The batch that can be undone from there.
    pub(crate) undo: Option<u64>,
}

impl Notice {
    /// What a change says: its receipt, and that it can be undone.
    pub(crate) fn of(receipt: Option<String>, batch: Option<u64>) -> Self {
        let text = receipt.unwrap_or_else(|| "nothing had to be changed".to_owned());
        // There is a button for it.
        let text = text.strip_suffix(plan::UNDO).unwrap_or(&text).to_owned();
        Self { text, issues: Vec::new(), undo: batch }
    }

    /// What a report says of actions that were carried out.
    pub(crate) fn of_report(report: Report) -> Self {
        let issues = report.issues.into_iter().map(|issue| issue.message).collect();
        Self { issues, ..Self::of(report.receipt, report.batch) }
    }
}

/// What the person is told of the door, where the page was started. What a browser calls itself is its own word.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DoorEvent {
    /// A browser was let in.
    LetIn(String),
    /// The address by which a browser had come in was opened once more elsewhere: that browser is out.
    PutOut(String),
}

/// Who is told of it.
type Hear = Box<dyn Fn(DoorEvent) + Send + Sync>;

/// A browser that was let in.
pub(crate) struct Session {
    /// By which it is named on a page: nothing that lets anybody in.
    number: u64,
    /// When it came.
    since: Instant,
    cookie: Secret,
    /// The code it came with.
    code: Secret,
    /// What its forms and its script show with a change.
    token: Secret,
    /// The name and port by which it called.
    host: String,
    /// As what it described itself.
    agent: Option<String>,
    /// Ends what is told to it by and by.
    ended: CancellationToken,
    notice: Mutex<Option<Notice>>,
    /// The text of each note that it was shown last.
    shown: Mutex<HashMap<MemoryPath, Digest>>,
}

impl Session {
    /// Whether this is the token that its changes have to show.
    pub(crate) fn has_token(&self, shown: &str) -> bool {
        self.token.is(shown)
    }

    fn name(&self) -> String {
        text::shortened(self.agent.as_deref().unwrap_or("a browser without a name"), MOST_NAME)
    }
}

/// A request of a browser that was let in.
#[derive(Clone)]
pub(crate) struct Visitor {
    session: Arc<Session>,
    is_refresh: bool,
    /// Whether the person sees a whole page: not where the script takes a part of it.
    is_whole: bool,
    is_typing: bool,
    /// The address that was asked for.
    here: String,
}

impl Visitor {
    /// The visitor of a request that is the person's own.
    pub(crate) fn of(session: Arc<Session>, request: &Request) -> Self {
        let is_refresh = request.headers().contains_key(REFRESH);
        let typing = request.headers().get(TYPING);
        let is_whole = !is_refresh && typing.is_none();
        let is_typing = !is_refresh && typing.is_some_and(|typing| typing != "paused");
        let here = request.uri().path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string);
        Self { session, is_refresh, is_whole, is_typing, here }
    }

    /// The token that a change has to show.
    pub(crate) fn token(&self) -> &str {
        &self.session.token.0
    }

    /// Whether the script fetches a page again by itself. That is not one more reading of a text that was shown, and is the browser's
    /// own word: see [`Self::was_shown`].
    pub(crate) fn is_refresh(&self) -> bool {
        self.is_refresh
    }

    /// Whether the script searches while the person types: the last word may be half of one.
    pub(crate) fn is_typing(&self) -> bool {
        self.is_typing
    }

    /// Is cancelled when the session ends.
    pub(crate) fn ended(&self) -> CancellationToken {
        self.session.ended.clone()
    }

    /// Whether this is the browser of that number.
    pub(crate) fn is(&self, browser: u64) -> bool {
        self.session.number == browser
    }

    /// Whether this text of a note was the last that this browser was shown of it.
    pub(crate) fn was_shown(&self, path: &MemoryPath, digest: Digest) -> bool {
        lock(&self.session.shown).get(path) == Some(&digest)
    }

    /// This text of a note is shown now.
    pub(crate) fn is_shown(&self, path: &MemoryPath, digest: Digest) {
        lock(&self.session.shown).insert(path.clone(), digest);
    }

    /// The address that was asked for, below that of the server.
    pub(crate) fn here(&self) -> &str {
        &self.here
    }

    /// Leaves a notice for the next page.
    pub(crate) fn leave(&self, notice: Notice) {
        *lock(&self.session.notice) = Some(notice);
    }

    /// Takes the notice that was left for this page.
    pub(crate) fn take_notice(&self) -> Option<Notice> {
        if self.is_whole { lock(&self.session.notice).take() } else { None }
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        parts.extensions.get().cloned().ok_or(Refusal::Stranger)
    }
}

/// A browser that is in, for the person to know it by.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct LetIn {
    /// Its number since the start.
    pub(crate) number: u64,
    /// What it calls itself.
    pub(crate) name: String,
    /// How long it has been in.
    pub(crate) age: Duration,
}

/// Who may come in, and who is.
pub(crate) struct Door {
    names: Names,
    /// The name of the cookie.
    cookie: String,
    /// The code that lets one in, and when it was made.
    code: Mutex<Option<(Secret, Instant)>>,
    sessions: Mutex<Vec<Arc<Session>>>,
    /// How many browsers have come in.
    entered: AtomicU64,
    hear: OnceLock<Hear>,
}

impl fmt::Debug for Door {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Door").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Door {
    pub(crate) fn new(names: Names, port: u16) -> Self {
        let cookie = format!("memdir-{port}");
        Self {
            names,
            cookie,
            code: Mutex::default(),
            sessions: Mutex::default(),
            entered: AtomicU64::new(0),
            hear: OnceLock::new(),
        }
    }

    pub(crate) fn new_code(&self) -> io::Result<EntryCode> {
        let code = Secret::new()?;
        *lock(&self.code) = Some((code.clone(), Instant::now()));
        Ok(EntryCode(code))
    }

    /// Tells of who comes in; the first one counts.
    pub(crate) fn tell(&self, hear: Hear) {
        // A second one has nothing to do.
        let _ = self.hear.set(hear);
    }

    fn told(&self, event: DoorEvent) {
        self.hear.get().into_iter().for_each(|hear| hear(event.clone()));
    }

    /// Ends the session that a code gave: who shows it again may be the person, whom another program came before.
    fn put_out(&self, code: &str) {
        let mut sessions = lock(&self.sessions);
        let Some(at) = sessions.iter().position(|session| session.code.is(code)) else { return };
        let session = sessions.remove(at);
        drop(sessions);
        session.ended.cancel();
        self.told(DoorEvent::PutOut(session.name()));
    }

    /// The browsers that are in, in the order in which they came.
    pub(crate) fn browsers(&self) -> Vec<LetIn> {
        let let_in = |session: &Arc<Session>| LetIn {
            number: session.number,
            name: session.name(),
            age: session.since.elapsed(),
        };
        lock(&self.sessions).iter().map(let_in).collect()
    }

    /// Puts a browser out; whether it was in.
    pub(crate) fn end(&self, browser: u64) -> bool {
        let mut sessions = lock(&self.sessions);
        let Some(at) = sessions.iter().position(|session| session.number == browser) else { return false };
        sessions.remove(at).ended.cancel();
        true
    }

    /// Lets a browser in that shows the code, which works no more then, nor a while after it was made.
    fn enter(&self, code: &str, headers: &HeaderMap, now: Instant) -> Result<Arc<Session>, Refusal> {
        let host = header(headers, HOST).ok_or(Refusal::Name)?.to_owned();
        let code = {
            let mut waiting = lock(&self.code);
            let is_good = |(waiting, made): &(Secret, Instant)| {
                waiting.is(code) && now.saturating_duration_since(*made) < CODE_LIFE
            };
            let (code, _) = waiting.take_if(|waiting| is_good(waiting)).ok_or(Refusal::Code)?;
            code
        };
        let (cookie, token) = Secret::new().and_then(|cookie| Ok((cookie, Secret::new()?))).map_err(|error| {
            tracing::error!(%error, "the system gives no random numbers");
            Refusal::Fault
        })?;
        let agent = header(headers, USER_AGENT).map(str::to_owned);
        let session = Arc::new(Session {
            number: self.entered.fetch_add(1, Ordering::Relaxed) + 1,
            since: Instant::now(),
            cookie,
            code,
            token,
            host,
            agent,
            ended: CancellationToken::new(),
            notice: Mutex::default(),
            shown: Mutex::default(),
        });
        let mut sessions = lock(&self.sessions);
        if sessions.len() >= MOST_SESSIONS {
            sessions.remove(0).ended.cancel();
        }
        sessions.push(Arc::clone(&session));
        drop(sessions);
        self.told(DoorEvent::LetIn(session.name()));
        Ok(session)
    }

    /// The session of the cookie, if it is shown by the browser that was given it, under the name by which it called.
    pub(crate) fn session(&self, headers: &HeaderMap) -> Option<Arc<Session>> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let shown: Vec<&str> = pairs.filter(|(name, _)| *name == self.cookie).map(|(_, value)| value).collect();
        let sessions = lock(&self.sessions);
        let known = sessions.iter().find(|session| shown.iter().any(|shown| session.cookie.is(shown)))?;
        let is_same =
            header(headers, HOST) == Some(&known.host) && header(headers, USER_AGENT) == known.agent.as_deref();
        if !is_same {
            tracing::warn!("refused a cookie that another browser was given, or for another name");
        }
        is_same.then(|| Arc::clone(known))
    }
}

impl Door {
    pub(crate) fn is_own_name(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        // What a form of ours sends: a page without a referrer has no origin, and the browser says itself that it is ours.
        if header(headers, ORIGIN) == Some("null") && header(headers, FETCH_SITE) == Some("same-origin") {
            let mut headers = headers.clone();
            headers.remove(ORIGIN);
            return self.names.allow(uri, &headers);
        }
        self.names.allow(uri, headers)
    }

    pub(crate) fn answer_entrance(&self, request: &Request, known: Option<&Session>) -> Result<Response, Refusal> {
        let home = |cookie: Option<String>| {
            let mut response = (StatusCode::SEE_OTHER, [(LOCATION, "/")]).into_response();
            if let Some(cookie) = cookie.and_then(|cookie| cookie.parse().ok()) {
                response.headers_mut().insert(SET_COOKIE, cookie);
            }
            response
        };
        // A browser that only guesses that the person may want to go there must not use the code up.
        if request.method() != Method::GET || request.headers().contains_key(PURPOSE) {
            return Err(Refusal::Method);
        }
        let mut fields = form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes());
        let code = fields.find(|(name, _)| name == "code").map(|(_, value)| value).unwrap_or_default();
        match self.enter(&code, request.headers(), Instant::now()) {
            Ok(session) => {
                let attributes = "HttpOnly; SameSite=Strict; Path=/";
                Ok(home(Some(format!("{}={}; {attributes}", self.cookie, session.cookie.0))))
            }
            Err(refusal) => {
                if refusal == Refusal::Code && !known.is_some_and(|known| known.code.is(&code)) {
                    self.put_out(&code);
                }
                if refusal == Refusal::Code && known.is_some() { Ok(home(None)) } else { Err(refusal) }
            }
        }
    }
}

/// The text of a header that is there once.
pub(crate) fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    only(headers, name).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_was_left_lying_lets_nobody_in() {
        let door = Door::new(Names::default(), 8733);
        let headers: HeaderMap = [(HOST, "127.0.0.1:8733".parse().unwrap())].into_iter().collect();
        let minutes = |count: u64| Instant::now() + Duration::from_secs(count * 60);
        let (first, second) = (door.new_code().unwrap(), door.new_code().unwrap());
        assert_eq!(door.enter(&first.0.0, &headers, minutes(0)).err(), Some(Refusal::Code));
        assert_eq!(door.enter(&second.0.0, &headers, minutes(11)).err(), Some(Refusal::Code));
        assert!(door.enter(&second.0.0, &headers, minutes(9)).is_ok());
    }
}
