//! A model file is fetched from where its maker gives it away.
//!
//! What was fetched stays as a part when something comes in between, and the next time goes on from there, if the server still has the
//! same file. Only a file with the expected SHA-256 comes onto the shelf.

use std::io::{BufReader, Seek, SeekFrom, Write};

use reqwest::header::{ACCEPT_ENCODING, CONTENT_RANGE, ETAG, HeaderMap, IF_RANGE, RANGE};
use reqwest::{Client, Response, StatusCode, Url};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::header;
use crate::http::{self, Reach};
use crate::shelf::{self, Kept, New, Shelf, ShelfError, disk};
use memdir_core::digest::Digest;
use memdir_core::time::Timestamp;

pub use crate::http::Patience;

/// How often a broken connection is taken up again, while each brings something.
const MOST_TRIES: u32 = 5;
/// The largest file that is believed.
const MOST_BYTES: u64 = 1 << 40;
/// The version of what is written down of a part.
const VERSION: u32 = 1;

/// What is to be fetched.
#[derive(Clone, Debug)]
pub struct Fetching {
    /// How it shall be called.
    pub name: String,
    /// Where it is.
    pub address: Address,
    /// The SHA-256 that it has to have.
    pub digest: Digest,
    /// How large it is, where that is known before.
    pub bytes: Option<u64>,
    /// Its licence, where that is known.
    pub licence: Option<String>,
    /// How many bytes may be written, where that is known.
    pub free_bytes: Option<u64>,
    /// How long the server is waited for.
    pub patience: Patience,
    /// What time it is.
    pub now: Timestamp,
}

/// An address that may be fetched from: over TLS, or of this machine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Address {
    url: Url,
    reach: Reach,
}

/// How far it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Progress {
    /// So many bytes are there, of so many.
    Fetched(u64, u64),
    /// So many bytes are checked, of so many.
    Checked(u64, u64),
}

/// Why a model was not fetched.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FetchError {
    /// The address cannot be fetched from.
    #[error("`{0}` is no address to fetch from")]
    Address(String),
    /// Nobody answers.
    #[error("`{host}` cannot be reached: {why}")]
    Unreachable {
        /// The host.
        host: String,
        /// What the system says.
        why: String,
    },
    /// The server does not give it.
    #[error("`{host}` does not give it: {status}")]
    Status {
        /// The host.
        host: String,
        /// The number of its answer.
        status: u16,
    },
    /// The server has something else there.
    #[error("`{host}` has another file there: {why}")]
    Other {
        /// The host.
        host: String,
        /// What it has.
        why: String,
    },
    /// The connection broke, again and again. What was fetched is kept.
    #[error("the connection to `{host}` broke after {} of {} MB", .done / 1_000_000, .all.div_ceil(1_000_000))]
    Broken {
        /// The host.
        host: String,
        /// How many bytes are there.
        done: u64,
        /// Of how many.
        all: u64,
    },
    /// What came has another SHA-256, and was removed.
    #[error("what `{host}` gave is not the file that was expected, and is removed: expected {expected}, found {found}")]
    Digest {
        /// The host.
        host: String,
        /// What was expected.
        expected: Digest,
        /// What came.
        found: Digest,
    },
    /// The person stopped it. What was fetched is kept.
    #[error("stopped after {} MB, which are kept", .done / 1_000_000)]
    Cancelled {
        /// How many bytes are there.
        done: u64,
    },
    /// It could not be put on the shelf.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
}

impl Address {
    /// Reads an address: `https://…`, or `http://` and this machine.
    ///
    /// # Errors
    ///
    /// [`FetchError::Address`] for any other, and for one with a name or a password in it.
    pub fn parse(text: &str) -> Result<Self, FetchError> {
        let url = text.parse::<Url>().ok();
        let found = url.and_then(|url| Some(Self { reach: http::reach(&url)?, url }));
        found.ok_or_else(|| {
            // What stands before the host may be a password.
            let is_plain = !text.contains('@') && text.len() < 200;
            FetchError::Address(if is_plain { text.to_owned() } else { "this".to_owned() })
        })
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> String {
        self.url.host_str().unwrap_or_default().to_owned()
    }

    /// The address without what may be secret in it.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.to_string()
    }
}

/// Fetches a model onto the shelf. Blocks until it is there; `tell` hears how far it is, and `stop` ends it soon.
///
/// # Errors
///
/// [`FetchError`].
pub fn fetch(
    shelf: &Shelf,
    fetching: &Fetching,
    tell: &mut dyn FnMut(Progress),
    stop: &CancellationToken,
) -> Result<Kept, FetchError> {
    if !shelf::is_name(&fetching.name) {
        return Err(ShelfError::Name(memdir_core::catalog::shorten(&fetching.name)).into());
    }
    let mut part = Part::open(shelf, fetching)?;
    // Another process may have ended it before this one had the part for itself.
    if let Some(kept) = shelf.known(&fetching.name, true, fetching.digest)? {
        shelf.remove_part(&fetching.name)?;
        return Ok(kept);
    }
    let host = fetching.address.host();
    let unreachable = |why: String| FetchError::Unreachable { host: host.clone(), why };
    let client =
        http::client(fetching.address.reach, fetching.patience).map_err(|error| unreachable(http::why(&error)))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| unreachable(error.kind().to_string()))?;
    let mut tries = 0;
    loop {
        let before = part.bytes;
        let round = async {
            tokio::select! {
                biased;
                () = stop.cancelled() => Err(FetchError::Cancelled { done: 0 }),
                done = part.fill(&client, tell) => done,
            }
        };
        match runtime.block_on(round) {
            Ok(()) => break,
            Err(FetchError::Broken { .. }) if part.bytes > before && tries < MOST_TRIES => tries += 1,
            Err(FetchError::Cancelled { .. }) => return Err(FetchError::Cancelled { done: part.bytes }),
            Err(FetchError::Other { host, why }) => {
                shelf.remove_part(&fetching.name)?;
                return Err(FetchError::Other { host, why });
            }
            Err(error) => return Err(error),
        }
    }
    part.finish(tell, stop)
}

/// What is there of a file that is being fetched.
struct Part<'a> {
    shelf: &'a Shelf,
    fetching: &'a Fetching,
    file: disk::File,
    /// How many bytes are there.
    bytes: u64,
    /// How many it takes, where that is known before: a crash may have left what was written down of a file that was whole.
    whole: Option<u64>,
    state: State,
}

/// What is written down of a part, so that another process can go on with it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
struct State {
    version: u32,
    address: String,
    digest: Option<Digest>,
    /// How the server marks the file as it is; `None` where it does not, and then a part is worth nothing.
    mark: Option<String>,
}

/// How a server's answer goes on.
struct Body {
    response: Response,
    all: u64,
}

impl<'a> Part<'a> {
    fn open(shelf: &'a Shelf, fetching: &'a Fetching) -> Result<Self, FetchError> {
        let file = shelf.open_part(&fetching.name)?;
        let text = disk::read_text(&state_file(shelf, &fetching.name)).ok().flatten();
        let state: State = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let is_same = state.version == VERSION
            && state.address == fetching.address.shown()
            && state.digest == Some(fetching.digest)
            && state.mark.is_some();
        let kept = shelf.find(&fetching.name).ok().filter(|kept| kept.digest == fetching.digest);
        let whole = fetching.bytes.or(kept.map(|kept| kept.bytes));
        let mut part = Self { shelf, fetching, file, bytes: 0, whole, state: State::default() };
        if is_same {
            part.state = state;
            part.bytes = part.file.seek(SeekFrom::End(0)).map_err(|error| part.unwritten(&error))?;
        } else {
            part.begin()?;
        }
        Ok(part)
    }

    /// Throws away what is there.
    fn begin(&mut self) -> Result<(), FetchError> {
        let emptied = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)));
        emptied.map_err(|error| self.unwritten(&error))?;
        self.bytes = 0;
        Ok(())
    }

    /// Asks the server once, and writes what comes until all is there.
    async fn fill(&mut self, client: &Client, tell: &mut dyn FnMut(Progress)) -> Result<(), FetchError> {
        if self.fetching.bytes.is_some_and(|all| self.bytes > all) {
            self.begin()?;
        }
        if self.whole == Some(self.bytes) {
            return Ok(());
        }
        let Body { mut response, all } = self.ask(client).await?;
        tell(Progress::Fetched(self.bytes, all));
        let broken = |done| FetchError::Broken { host: self.fetching.address.host(), done, all };
        loop {
            let piece = match response.chunk().await {
                Ok(Some(piece)) => piece,
                Ok(None) if self.bytes == all => return Ok(()),
                Ok(None) | Err(_) => return Err(broken(self.bytes)),
            };
            if self.bytes.saturating_add(piece.len() as u64) > all {
                return Err(self.other(format!("it is longer than {all} bytes")));
            }
            self.file.write_all(&piece).map_err(|error| self.unwritten(&error))?;
            self.bytes = self.bytes.saturating_add(piece.len() as u64);
            tell(Progress::Fetched(self.bytes, all));
        }
    }

    /// Asks for what is missing, and makes ready for what comes: the rest, or all of it again.
    async fn ask(&mut self, client: &Client) -> Result<Body, FetchError> {
        let mut response = self.send(client).await?;
        if response.status() == StatusCode::RANGE_NOT_SATISFIABLE && self.bytes > 0 {
            self.begin()?;
            response = self.send(client).await?;
        }
        let all = match response.status() {
            StatusCode::PARTIAL_CONTENT => match range(response.headers()) {
                Some((from, all)) if from == self.bytes => all,
                _ => return Err(self.other("it gives another part than was asked for".to_owned())),
            },
            StatusCode::OK => {
                self.begin()?;
                response.content_length().ok_or_else(|| self.other("it does not say how large it is".to_owned()))?
            }
            status => return Err(FetchError::Status { host: self.fetching.address.host(), status: status.as_u16() }),
        };
        if let Some(expected) = self.fetching.bytes.filter(|expected| *expected != all) {
            return Err(self.other(format!("it has {all} bytes, and {expected} were expected")));
        }
        let wanted = all.saturating_sub(self.bytes);
        if all > MOST_BYTES || self.fetching.free_bytes.is_some_and(|free| free < wanted) {
            return Err(ShelfError::Full { wanted, free: self.fetching.free_bytes.unwrap_or(MOST_BYTES) }.into());
        }
        self.note(mark(response.headers()))?;
        Ok(Body { response, all })
    }

    async fn send(&self, client: &Client) -> Result<Response, FetchError> {
        let mut request = client.get(self.fetching.address.url.clone()).header(ACCEPT_ENCODING, "identity");
        if let Some(mark) = self.state.mark.as_ref().filter(|_| self.bytes > 0) {
            request = request.header(RANGE, format!("bytes={}-", self.bytes)).header(IF_RANGE, mark);
        }
        let host = self.fetching.address.host();
        request.send().await.map_err(|error| FetchError::Unreachable { host, why: http::why(&error) })
    }

    /// Writes down what the part is one of, before the first byte of it.
    fn note(&mut self, mark: Option<String>) -> Result<(), FetchError> {
        let Fetching { address, digest, .. } = self.fetching;
        let state = State { version: VERSION, address: address.shown(), digest: Some(*digest), mark };
        if state != self.state {
            let text = serde_json::to_string(&state).unwrap_or_default();
            disk::write_text(&state_file(self.shelf, &self.fetching.name), &text)
                .map_err(|error| self.unwritten(&error))?;
            self.state = state;
        }
        Ok(())
    }

    /// Checks what came, and puts it on the shelf.
    fn finish(mut self, tell: &mut dyn FnMut(Progress), stop: &CancellationToken) -> Result<Kept, FetchError> {
        let Fetching { name, address, digest, licence, now, .. } = self.fetching;
        self.file.seek(SeekFrom::Start(0)).map_err(|error| self.unwritten(&error))?;
        let mut checked = |done, all| tell(Progress::Checked(done, all));
        let found = match shelf::digest(&mut self.file, name, self.bytes, &mut checked, stop) {
            Err(ShelfError::Cancelled) => return Err(FetchError::Cancelled { done: self.bytes }),
            found => found?,
        };
        if found != *digest {
            self.shelf.remove_part(name)?;
            return Err(FetchError::Digest { host: address.host(), expected: *digest, found });
        }
        self.file.seek(SeekFrom::Start(0)).map_err(|error| self.unwritten(&error))?;
        if let Err(why) = header::read(BufReader::new(&self.file), self.bytes) {
            self.shelf.remove_part(name)?;
            return Err(ShelfError::NotAModel { file: name.clone(), why }.into());
        }
        let new =
            New { name: name.clone(), digest: found, source: address.shown(), licence: licence.clone(), added: *now };
        Ok(self.shelf.settle(&self.file, new)?)
    }

    fn other(&self, why: String) -> FetchError {
        FetchError::Other { host: self.fetching.address.host(), why }
    }

    fn unwritten(&self, error: &std::io::Error) -> FetchError {
        let what = format!("{}.part", self.fetching.name);
        ShelfError::Io { verb: "written", what, kind: error.kind() }.into()
    }
}

fn state_file(shelf: &Shelf, name: &str) -> std::path::PathBuf {
    shelf.folder().join(format!("{name}.part.json"))
}

/// Where a part begins, and how large the whole is.
fn range(headers: &HeaderMap) -> Option<(u64, u64)> {
    let text = headers.get(CONTENT_RANGE)?.to_str().ok()?.strip_prefix("bytes ")?;
    let (range, all) = text.split_once('/')?;
    let (from, to) = range.split_once('-')?;
    let (from, to, all): (u64, u64, u64) = (from.parse().ok()?, to.parse().ok()?, all.parse().ok()?);
    (to.checked_add(1)? == all).then_some((from, all))
}

/// How the server marks the bytes of the file; a weak mark does not.
fn mark(headers: &HeaderMap) -> Option<String> {
    let mark = headers.get(ETAG)?.to_str().ok()?;
    (mark.starts_with('"') && mark.len() < 1_000).then(|| mark.to_owned())
}

#[cfg(test)]
mod tests;
