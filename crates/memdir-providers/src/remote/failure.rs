//! One honest error for each way in which asking fails, and whether asking again may help.
//!
//! What a server says is shortened, without control characters, and without the key: a server may repeat it.

use std::error::Error;
use std::time::Duration;

use genai::webc::StreamTimeout;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::hear::Fault;
use super::provider::Site;
use super::secret::Secret;
use memdir_model::ModelError;

/// The most of an error's body that is looked at, in bytes.
const MOST_BODY: usize = 16 << 10;

/// The most of what a server says that is shown, in characters.
const MOST_WORDS: usize = 300;

/// A failure, and what becomes of it.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: ModelError,
    pub(super) mend: Mend,
    /// What the server names in it, in lower case.
    pub(super) names: String,
}

/// Whether asking again may help.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Mend {
    Never,
    Soon,
    /// The server says when.
    After(Duration),
}

impl Failure {
    /// One that asking again does not mend.
    pub(super) fn last(error: ModelError) -> Self {
        Self { error, mend: Mend::Never, names: String::new() }
    }

    fn passing(error: ModelError) -> Self {
        Self { error, mend: Mend::Soon, names: String::new() }
    }
}

/// What is known of who was asked.
pub(super) struct Telling<'a> {
    pub(super) site: &'a Site,
    pub(super) key: Option<&'a Secret>,
    pub(super) name: &'a str,
    pub(super) timeout: Duration,
}

impl Telling<'_> {
    /// Says what happened.
    pub(super) fn tell(&self, fault: Fault) -> Failure {
        match fault {
            Fault::Library(error) => self.library(error),
            Fault::Connection(error) => self.connection(&error),
            Fault::Status { status, headers, body } => self.status(status, &headers, &body),
            Fault::Silence => Failure::last(self.timeout()),
            Fault::Flood => Failure::last(self.garbled("it does not end")),
            Fault::BrokeOff => Failure::passing(ModelError::Broken { place: self.place() }),
            Fault::NoInterface => Failure::last(self.garbled("it does not have the interface that was asked for")),
            Fault::Withheld(reason) => {
                let why = format!("the answer is held back: {}", self.clean(&reason));
                Failure::last(ModelError::Rejected { place: self.place(), why })
            }
            Fault::Calls => Failure::last(self.garbled("it calls tools, and none was offered")),
            Fault::NoTurn => Failure::last(self.garbled("its JSON is broken")),
            Fault::Ended(reason) => match reason.as_str() {
                "error" | "abort" => Failure::passing(ModelError::Broken { place: self.place() }),
                _ => Failure::last(self.garbled(&format!("it ends for the reason `{}`", self.clean(&reason)))),
            },
        }
    }

    fn library(&self, error: genai::Error) -> Failure {
        match error {
            genai::Error::HttpError { status, body, headers, .. } => self.status(status.as_u16(), &headers, &body),
            genai::Error::WebStream { error, .. } => {
                if error.is::<StreamTimeout>() {
                    return Failure::last(self.timeout());
                }
                match error.downcast::<genai::Error>().map(|error| *error) {
                    Ok(genai::Error::HttpError { status, body, headers, .. }) => {
                        self.status(status.as_u16(), &headers, &body)
                    }
                    Ok(_) => Failure::last(self.garbled("an event that its interface does not have")),
                    Err(error) => match error.downcast_ref::<reqwest::Error>() {
                        Some(error) => self.connection(error),
                        None => Failure::last(self.garbled("an event that is no text")),
                    },
                }
            }
            // An error in the middle of a stream, or instead of it.
            genai::Error::ChatResponse { body, .. } => {
                let code = body.pointer("/code").or(body.pointer("/error/code")).and_then(Value::as_u64);
                let status = code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
                self.status(status.unwrap_or(0), &HeaderMap::new(), &body.to_string())
            }
            _ => Failure::last(self.garbled("an event that its interface does not have")),
        }
    }

    fn connection(&self, error: &reqwest::Error) -> Failure {
        if error.is_connect() {
            let why = self.clean(&deepest(error).to_string());
            let unreachable = ModelError::Unreachable { place: self.place(), why };
            // Where nobody listens on this machine, nobody will in a second.
            return if self.site.is_loopback { Failure::last(unreachable) } else { Failure::passing(unreachable) };
        }
        if error.is_timeout() {
            return Failure::last(self.timeout());
        }
        Failure::passing(ModelError::Broken { place: self.place() })
    }

    /// What an error that the server gave means. A status of 0 is none.
    fn status(&self, status: u16, headers: &HeaderMap, body: &str) -> Failure {
        let body = body.get(..body.floor_char_boundary(MOST_BODY)).unwrap_or_default();
        let said = Said::read(body);
        let why = self.why(status, &said);
        let place = self.place();
        let failing = |mend| Failure {
            error: ModelError::Failing { place: place.clone(), why: why.clone() },
            mend,
            names: String::new(),
        };
        if let Some(most) = too_long(status, &said) {
            return Failure::last(ModelError::TooLong { most });
        }
        if is_out_of_credit(status, &said) {
            return Failure::last(ModelError::Limited { place, why, again: None });
        }
        let again = again(headers).or(said.again);
        match status {
            300..400 => Failure::last(ModelError::Rejected { place, why: redirected(headers) }),
            _ if is_refused(status, &said) => Failure::last(ModelError::Refused { place, why }),
            _ if is_unknown(status, &said) => {
                Failure::last(ModelError::Unknown { place, name: self.name.to_owned(), known: Vec::new() })
            }
            _ if status == 429 || said.names.contains("rate_limit") => Failure {
                mend: again.map_or(Mend::Soon, Mend::After),
                error: ModelError::Limited { place, why, again },
                names: String::new(),
            },
            408 | 409 | 425 | 500..600 if !is_invalid(&said) => failing(again.map_or(Mend::Soon, Mend::After)),
            0 if said.names.contains("overloaded") || said.names.contains("server_error") => failing(Mend::Soon),
            0 => failing(Mend::Never),
            _ => Failure { error: ModelError::Rejected { place, why }, mend: Mend::Never, names: said.names },
        }
    }

    /// What the server says, in words for a person.
    fn why(&self, status: u16, said: &Said) -> String {
        let words = self.clean(&said.message);
        match (status, words.is_empty()) {
            (0, true) => "it does not say why".to_owned(),
            (_, true) => format!("status {status}"),
            (0, false) => words,
            (_, false) => format!("{words} (status {status})"),
        }
    }

    fn garbled(&self, why: &str) -> ModelError {
        ModelError::Garbled { place: self.place(), why: why.to_owned() }
    }

    fn timeout(&self) -> ModelError {
        ModelError::Timeout { place: self.place(), after: self.timeout }
    }

    fn place(&self) -> String {
        self.site.shown.clone()
    }

    /// A text of the server as it may be shown.
    fn clean(&self, text: &str) -> String {
        let text = text.get(..text.floor_char_boundary(MOST_BODY)).unwrap_or_default();
        let hidden = self.key.map_or_else(|| text.to_owned(), |key| key.hide(text));
        let words: Vec<&str> =
            hidden.split(|character: char| character.is_whitespace() || character.is_control()).collect();
        let words = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        match words.char_indices().nth(MOST_WORDS) {
            Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()),
            None => words,
        }
    }
}

/// What an error's body says.
#[derive(Debug, Default)]
struct Said {
    message: String,
    /// Its codes and its message, in lower case.
    names: String,
    again: Option<Duration>,
    /// How many tokens a request may have.
    most: Option<u32>,
}

impl Said {
    fn read(body: &str) -> Self {
        let Ok(json) = serde_json::from_str::<Value>(body) else { return Self::plain(body) };
        // Some send a list with one error in it.
        let json = json.get(0).unwrap_or(&json);
        let text = |places: &[&str]| {
            let found = places.iter().filter_map(|place| json.pointer(place)).find_map(Value::as_str);
            found.unwrap_or_default().to_owned()
        };
        let message =
            text(&["/error/message", "/message", "/error", "/detail", "/error/metadata/raw", "/detail/0/msg"]);
        let codes = ["/error/code", "/error/type", "/error/status", "/error/param", "/code", "/type", "/status"];
        let codes = codes.iter().filter_map(|place| json.pointer(place)?.as_str());
        let names = codes.chain([message.as_str()]).collect::<Vec<_>>().join(" ").to_lowercase();
        let delays = json.pointer("/error/details").and_then(Value::as_array).into_iter().flatten();
        let again = delays.filter_map(|detail| detail.get("retryDelay")?.as_str()).find_map(seconds);
        let most = json.pointer("/error/n_ctx").and_then(Value::as_u64).and_then(|most| u32::try_from(most).ok());
        Self { most: most.or_else(|| limit(&names)), message, names, again }
    }

    fn plain(body: &str) -> Self {
        let start = body.trim_start().to_lowercase();
        let is_page = ["<!doctype", "<html", "<head"].iter().any(|tag| start.starts_with(tag));
        let message = if is_page { "a web page, and no error of the interface" } else { body };
        Self { names: message.to_lowercase(), message: message.to_owned(), ..Self::default() }
    }

    fn has(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.names.contains(word))
    }
}

/// Whether the request is too long, and if so what is the most, where that is said.
fn too_long(status: u16, said: &Said) -> Option<Option<u32>> {
    const WORDS: &[&str] = &[
        "context_length_exceeded",
        "exceed_context_size",
        "maximum context length",
        "prompt is too long",
        "input token count",
        "available context size",
        "context length of only",
        "greater than the context length",
        "exceeds the context window",
        "context window exceeded",
        "input is too long",
        "request_too_large",
    ];
    let is_error = status == 0 || (400..600).contains(&status) && status != 429;
    (status == 413 || is_error && said.has(WORDS)).then_some(said.most)
}

/// The number behind the words that lead it.
fn limit(names: &str) -> Option<u32> {
    const LEADS: &[&str] = &[
        "maximum context length is ",
        "maximum context length of ",
        "available context size (",
        "context length of only ",
        "tokens allowed (",
        "context length is ",
        " tokens > ",
    ];
    LEADS.iter().find_map(|lead| {
        let (_, rest) = names.split_once(lead)?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}

fn is_out_of_credit(status: u16, said: &Said) -> bool {
    status == 402 || said.has(&["insufficient_quota", "credit balance", "insufficient credits", "billing_error"])
}

fn is_refused(status: u16, said: &Said) -> bool {
    [401, 403].contains(&status)
        || said.has(&[
            "api key not valid",
            "api_key_invalid",
            "invalid api key",
            "invalid_api_key",
            "authentication_error",
        ])
}

fn is_unknown(status: u16, said: &Said) -> bool {
    let says = said.has(&["model_not_found", "is not a valid model id", "invalid model identifier", "unknown model"]);
    let names_model = said.has(&["model"]) && said.has(&["not found", "not_found", "does not exist", "no such"]);
    [400, 404, 422].contains(&status) && (says || names_model)
}

/// Whether a server has checked the request and found a field that it does not take, whatever status it gives that: the one
/// of llama-cpp-python gives 500.
fn is_invalid(said: &Said) -> bool {
    said.has(&["validation error"])
}

/// Where a server sends the client to, by its host; it is not followed.
fn redirected(headers: &HeaderMap) -> String {
    let place = headers.get("location").and_then(|place| reqwest::Url::parse(place.to_str().ok()?).ok());
    let host = place.as_ref().and_then(|place| place.host_str());
    match host {
        Some(host) => format!("it sends on to the host `{host}`, which is not followed"),
        None => "it sends on to another address, which is not followed".to_owned(),
    }
}

/// When the server wants to be asked again.
fn again(headers: &HeaderMap) -> Option<Duration> {
    let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let millis = said("retry-after-ms").and_then(|millis| millis.trim().parse().ok()).map(Duration::from_millis);
    millis.or_else(|| seconds(said("retry-after")?))
}

/// Reads `7`, `7.5` or `7s`; a date is not read.
fn seconds(text: &str) -> Option<Duration> {
    let number = text.trim().trim_end_matches('s').parse().ok()?;
    Duration::try_from_secs_f64(number).ok()
}

/// What is at the bottom of an error: what the system said.
fn deepest(error: &dyn Error) -> &dyn Error {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error
}
