//! The connection to a server: to where it was configured, and nowhere else.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, Url};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use super::hear::Fault;
use super::provider::{Provider, Site, Wire};
use super::secret::Secret;
use memdir_model::ModelError;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// The most bytes of an answer that is no stream.
const MOST_BYTES: usize = 16 << 20;

/// Runs what waits, in the thread that asks.
pub(super) fn runtime(site: &Site) -> Result<Runtime, ModelError> {
    let built = Builder::new_current_thread().enable_io().enable_time().build();
    built.map_err(|error| ModelError::Unreachable { place: site.shown.clone(), why: error.kind().to_string() })
}

/// A client for one server. Certificates are those of the system; the system has to have some only for `https`.
pub(super) fn client(site: &Site) -> Result<Client, ModelError> {
    // The process has one provider of cryptography for all of its connections. Whoever comes first chooses it, so an error
    // says that it is there.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().redirect(Policy::none()).no_proxy().connect_timeout(CONNECT).tcp_nodelay(true);
    let client = if site.base.scheme() == "http" { client.tls_certs_only([]) } else { client.https_only(true) };
    client.build().map_err(|_| ModelError::Unreachable {
        place: site.shown.clone(),
        why: "this system has no certificates to know servers by".to_owned(),
    })
}

/// What the head of a request has to say for the server to answer.
pub(super) fn head(provider: &Provider, key: Option<&Secret>) -> Vec<(String, String)> {
    let key = key.map(Secret::expose);
    let mut head = Vec::new();
    match provider.wire {
        Wire::OpenAi => head.extend(key.map(|key| ("authorization".to_owned(), format!("Bearer {key}")))),
        Wire::Gemini => head.extend(key.map(|key| ("x-goog-api-key".to_owned(), key.to_owned()))),
        Wire::Anthropic => {
            head.extend(key.map(|key| ("x-api-key".to_owned(), key.to_owned())));
            head.push(("anthropic-version".to_owned(), "2023-06-01".to_owned()));
        }
    }
    head
}

/// Gets what is JSON, within a time and some megabytes.
pub(super) async fn get(
    client: &Client,
    url: Url,
    head: Vec<(String, String)>,
    within: Duration,
) -> Result<Value, Fault> {
    json(client.get(url).headers(lines(head)), within).await
}

/// As [`get`], of what is asked with a body.
pub(super) async fn post(
    client: &Client,
    url: Url,
    head: Vec<(String, String)>,
    body: &Value,
    within: Duration,
) -> Result<Value, Fault> {
    let asked = client.post(url).headers(lines(head)).header("content-type", "application/json").body(body.to_string());
    json(asked, within).await
}

async fn json(asked: RequestBuilder, within: Duration) -> Result<Value, Fault> {
    let fetched = tokio::time::timeout(within, async {
        let answer = asked.send().await.map_err(Fault::Connection)?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = body(answer).await?;
        if !status.is_success() {
            let body = String::from_utf8_lossy(&body).into_owned();
            return Err(Fault::Status { status: status.as_u16(), headers: Box::new(headers), body });
        }
        serde_json::from_slice(&body).map_err(|_| Fault::NoInterface)
    });
    fetched.await.map_err(|_| Fault::Silence)?
}

fn lines(head: Vec<(String, String)>) -> HeaderMap {
    let lines = head.into_iter().filter_map(|(name, value)| {
        let mut value = HeaderValue::try_from(value).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::try_from(name).ok()?, value))
    });
    lines.collect()
}

async fn body(mut answer: Response) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(Fault::Connection)? {
        if body.len() + chunk.len() > MOST_BYTES {
            return Err(Fault::Flood);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
