//! [`Names`]: under which names the server may be called, and from which pages.
//!
//! A page on the web can make a name of its own lead to this machine. What its browser sends then says so in `Host` and
//! `Origin`.

use std::net::IpAddr;

use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::{Authority, Uri};
use axum::http::{HeaderMap, HeaderName};

/// The names besides those of this machine.
#[derive(Clone, Debug, Default)]
pub struct Names {
    hosts: Vec<Authority>,
    origins: Vec<Origin>,
}

/// A name that is none.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NameError {
    /// Not the name of a host.
    #[error("`{}` is no host name", .0.escape_debug())]
    Host(String),
    /// Not an origin.
    #[error("`{}` is no origin", .0.escape_debug())]
    Origin(String),
}

impl NameError {
    /// What to send instead.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Host(_) => "send one such as `memory.example` or `memory.example:8443`",
            Self::Origin(_) => "send one such as `https://memory.example`",
        }
    }
}

/// Where a page comes from: scheme, host and port.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Origin {
    is_https: bool,
    host: String,
    port: u16,
}

impl Names {
    /// Reads names as a person gives them. A host without a port is allowed with any.
    ///
    /// # Errors
    ///
    /// [`NameError`] for one that is none.
    pub fn new(hosts: &[String], origins: &[String]) -> Result<Self, NameError> {
        let host = |text: &String| authority(text).ok_or_else(|| NameError::Host(text.clone()));
        let origin = |text: &String| Origin::parse(text).ok_or_else(|| NameError::Origin(text.clone()));
        Ok(Self {
            hosts: hosts.iter().map(host).collect::<Result<_, _>>()?,
            origins: origins.iter().map(origin).collect::<Result<_, _>>()?,
        })
    }

    /// Whether a request calls the server by a name of its own and comes from no foreign page.
    #[must_use]
    pub fn allow(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let is_host = |host: &Authority| self.is_host(host);
        let target = uri.authority().is_none_or(is_host);
        let host = only(headers, HOST).flatten().and_then(authority).is_some_and(|host| is_host(&host));
        let origin = match only(headers, ORIGIN) {
            None => true,
            Some(origin) => origin.and_then(Origin::parse).is_some_and(|origin| self.is_origin(&origin)),
        };
        target && host && origin
    }

    /// A name of this machine is as good with any port: whoever forwards one here, chose it.
    fn is_host(&self, host: &Authority) -> bool {
        let is_this = |allowed: &Authority| {
            let is_port = allowed.port_u16().is_none_or(|port| host.port_u16() == Some(port));
            allowed.host().eq_ignore_ascii_case(host.host()) && is_port
        };
        is_loopback(host.host()) || self.hosts.iter().any(is_this)
    }

    fn is_origin(&self, origin: &Origin) -> bool {
        is_loopback(&origin.host) || self.origins.contains(origin)
    }
}

impl Origin {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let (is_https, port) = match scheme {
            "http" => (false, 80),
            "https" => (true, 443),
            _ => return None,
        };
        let host = authority(rest)?;
        Some(Self { is_https, port: host.port_u16().unwrap_or(port), host: host.host().to_ascii_lowercase() })
    }
}

/// A host with or without a port, and nothing else.
fn authority(text: &str) -> Option<Authority> {
    let authority =
        Authority::try_from(text).ok().filter(|authority| !text.contains('@') && !authority.host().is_empty());
    authority.filter(|authority| text.len() == authority.host().len() || authority.port_u16().is_some())
}

fn is_loopback(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The text of a header that may be there once: `None` without it, `Some(None)` when it is there otherwise.
#[must_use]
pub fn only(headers: &HeaderMap, name: HeaderName) -> Option<Option<&str>> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    Some(first.to_str().ok().filter(|_| values.next().is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(headers: &[(HeaderName, &str)], expected: bool) {
        check_at("/mcp", headers, expected);
    }

    #[track_caller]
    fn check_at(uri: &str, headers: &[(HeaderName, &str)], expected: bool) {
        let hosts = ["memory.example".to_owned(), "tunnel.example:8443".to_owned()];
        let names = Names::new(&hosts, &["https://page.example".to_owned()]).unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value.parse().unwrap());
        }
        assert_eq!(names.allow(&uri.parse().unwrap(), &map), expected, "{uri} {headers:?}");
    }

    #[test]
    fn a_host_is_this_machine_or_a_name_that_was_allowed() {
        for host in ["localhost", "LOCALHOST:8765", "127.0.0.1", "127.0.0.1:1", "127.8.9.1:80", "[::1]", "[::1]:8765"] {
            check(&[(HOST, host)], true);
        }
        for host in ["memory.example", "Memory.Example:99", "tunnel.example:8443"] {
            check(&[(HOST, host)], true);
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8765",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "tunnel.example",
            "tunnel.example:80",
            "0.0.0.0",
            "10.0.0.1",
            "[::]",
            "::1",
            "localhost@evil.example",
            "evil@localhost",
            "localhost:",
            "localhost:x",
            "localhost:99999",
            "localhost,evil.example",
            "localhost evil",
            "localhost/",
            "[::ffff:127.0.0.1]",
        ] {
            check(&[(HOST, host)], false);
        }
    }

    #[test]
    fn a_host_is_there_once_and_the_target_agrees() {
        check(&[], false);
        check(&[(HOST, "localhost"), (HOST, "localhost")], false);
        check(&[(HOST, "localhost"), (HOST, "evil.example")], false);
        check_at("http://localhost/mcp", &[(HOST, "localhost")], true);
        check_at("http://evil.example/mcp", &[(HOST, "localhost")], false);
        check_at("http://localhost/mcp", &[(HOST, "evil.example")], false);
    }

    #[test]
    fn an_origin_is_absent_or_this_machine_or_one_that_was_allowed() {
        for origin in ["http://localhost", "https://localhost:3000", "http://127.0.0.1:5173", "http://[::1]:1"] {
            check(&[(HOST, "localhost"), (ORIGIN, origin)], true);
        }
        check(&[(HOST, "localhost"), (ORIGIN, "https://page.example")], true);
        check(&[(HOST, "localhost"), (ORIGIN, "https://page.example:443")], true);
        for origin in [
            "null",
            "",
            "localhost",
            "file://",
            "ftp://localhost",
            "chrome-extension://abcdef",
            "http://page.example",
            "https://page.example:8443",
            "https://sub.page.example",
            "https://page.example.evil.example",
            "http://localhost/x",
            "http://localhost@evil.example",
            "http://evil.example",
            "http://localhost.evil.example",
            "*",
            "http://",
        ] {
            check(&[(HOST, "localhost"), (ORIGIN, origin)], false);
        }
        check(&[(HOST, "localhost"), (ORIGIN, "http://localhost"), (ORIGIN, "http://localhost")], false);
    }

    #[test]
    fn a_name_that_is_none_is_refused() {
        for host in ["", "https://memory.example", "memory.example/x", "a b", "user@host"] {
            assert_eq!(Names::new(&[host.to_owned()], &[]).unwrap_err(), NameError::Host(host.to_owned()));
        }
        for origin in ["", "memory.example", "null", "*", "ftp://memory.example", "https://memory.example/"] {
            assert_eq!(Names::new(&[], &[origin.to_owned()]).unwrap_err(), NameError::Origin(origin.to_owned()));
        }
    }
}
