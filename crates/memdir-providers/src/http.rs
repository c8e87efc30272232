//! The client that fetches files.
//!
//! It speaks TLS, and plain HTTP only with this machine itself. It goes where it is sent on only under the same rule. A proxy that the
//! environment names (`HTTPS_PROXY`, `ALL_PROXY`, but not for `NO_PROXY`) is used, as everybody expects of a download; never for this
//! machine.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};

/// How often it may be sent on.
const MOST_REDIRECTS: usize = 10;

/// Where a client may go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reach {
    /// Anywhere, over TLS.
    Everywhere,
    /// Only to this machine.
    Machine,
}

/// How long a server is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For the next byte.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { connect: Duration::from_secs(30), silence: Duration::from_secs(60) }
    }
}

/// Where an address may be reached; `None` where it may not: plain HTTP to elsewhere, another scheme, a name or password in it.
pub(super) fn reach(address: &Url) -> Option<Reach> {
    if !address.username().is_empty() || address.password().is_some() {
        return None;
    }
    match address.scheme() {
        _ if is_of_this_machine(address) => matches!(address.scheme(), "http" | "https").then_some(Reach::Machine),
        "https" => Some(Reach::Everywhere),
        _ => None,
    }
}

fn is_of_this_machine(address: &Url) -> bool {
    let host = address.host_str().unwrap_or_default();
    let number = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || number.is_ok_and(|number| number.is_loopback())
}

/// Makes a client.
///
/// # Errors
///
/// Where the system's certificates cannot be read.
pub(super) fn client(to: Reach, patience: Patience) -> Result<Client, reqwest::Error> {
    // Process-wide, and the same for whoever comes first: the crates that speak TLS name no provider of their own.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let follow = Policy::custom(move |attempt| {
        if attempt.previous().len() > MOST_REDIRECTS {
            attempt.error("it is sent on without end")
        } else if reach(attempt.url()) == Some(to) {
            attempt.follow()
        } else {
            attempt.error("it is sent on to where it must not go")
        }
    });
    let builder = Client::builder()
        .user_agent(concat!("memdir/", env!("CARGO_PKG_VERSION")))
        .https_only(to == Reach::Everywhere)
        .referer(false)
        .redirect(follow)
        .connect_timeout(patience.connect)
        .read_timeout(patience.silence);
    match to {
        Reach::Everywhere => builder,
        Reach::Machine => builder.no_proxy(),
    }
    .build()
}

/// What went wrong, in the words of whoever noticed it first, without an address.
pub(super) fn why(error: &reqwest::Error) -> String {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    if std::ptr::eq(deepest, error as &dyn std::error::Error) {
        return "the request fails".to_owned();
    }
    memdir_core::catalog::shorten(&deepest.to_string())
}

#[cfg(test)]
mod tests {
    use super::{Reach, reach};

    #[track_caller]
    fn check(address: &str, expected: Option<Reach>) {
        assert_eq!(reach(&address.parse().unwrap()), expected, "{address}");
    }

    #[test]
    fn only_this_machine_is_reached_without_tls() {
        check("https://example.com/x.gguf", Some(Reach::Everywhere));
        check("http://example.com/x.gguf", None);
        check("http://127.0.0.1:8080/x", Some(Reach::Machine));
        check("http://127.1/x", Some(Reach::Machine));
        check("http://[::1]:1/x", Some(Reach::Machine));
        check("https://localhost/x", Some(Reach::Machine));
        check("http://localhost.example.com/x", None);
        check("http://127.0.0.1.example.com/x", None);
        check("http://0.0.0.0/x", None);
        check("http://user@127.0.0.1/x", None);
        check("https://user:secret@example.com/x", None);
        check("ftp://127.0.0.1/x", None);
        check("file:///etc/passwd", None);
    }
}
