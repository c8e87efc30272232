//! The pages asked over their routes, as a browser would.

#![expect(clippy::disallowed_methods, reason = "tests play the person and the editor, who use paths")]

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{CONTENT_TYPE, COOKIE, HOST, LOCATION, SET_COOKIE, USER_AGENT};
use axum::http::{HeaderMap, Method, Request};
use memdir_core::time::Timestamp;
use memdir_engine::{Engine, Settings};
use memdir_policy::Mode;
use memdir_server::Names;
use memdir_vault::{Options, Vault};
use tempfile::TempDir;
use tower_service::Service;

use crate::{Site, WebOptions, web_routes};

mod bound;
mod decisions;
mod door;
mod edit;
mod home;
mod hostile;
mod pages;
mod pictures;
mod shown;

const HOME: &str = "127.0.0.1:8733";

/// A memory, its pages, and a browser that was let in.
struct Env {
    folder: TempDir,
    site: Arc<Site>,
    routes: Router,
    cookie: String,
    token: String,
}

/// What came back.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn header(&self, name: impl axum::http::header::AsHeaderName) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Env {
    async fn new(notes: &[(&str, &str)]) -> Self {
        Self::asking(notes, Mode::Off).await
    }

    /// As [`Env::new`], where the person's own changes are asked about in this mode.
    async fn asking(notes: &[(&str, &str)], mode: Mode) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in notes {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let root = folder.path().to_owned();
        let dir = cap_std::fs::Dir::open_ambient_dir(&root, cap_std::ambient_authority()).unwrap();
        let vault = Vault::new(dir, root.clone(), Options::default());
        let clock = || Timestamp::from_micros(1_795_000_000_000_000);
        let options =
            WebOptions { port: 8733, names: Names::default(), root, is_obsidian_vault: false, has_desktop: true, mode };
        let site = Site::new(Engine::new(vault, Settings::new(clock)), options);
        let routes = web_routes(&site);
        let mut env = Self { folder, site, routes, cookie: String::new(), token: String::new() };
        env.enter().await;
        env
    }

    /// Lets the browser in.
    async fn enter(&mut self) {
        let code = self.site.new_code().unwrap().address();
        let answer = self.send(request(Method::GET, &code, &[], "")).await;
        assert_eq!((answer.status, answer.header(LOCATION)), (303, "/"));
        let cookie = answer.header(SET_COOKIE);
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
        self.cookie = cookie.split(';').next().unwrap().to_owned();
        let form = self.get("/new").await.body;
        self.token = between(&form, r#"name="token" value=""#, "\"").to_owned();
        assert_eq!(self.token.len(), 64);
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.routes.clone().call(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, 64 << 20).await.unwrap();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    async fn get(&self, address: &str) -> Answer {
        self.send(request(Method::GET, address, &[("cookie", &self.cookie)], "")).await
    }

    /// Sends a form as a page of ours does.
    async fn post(&self, address: &str, fields: &[(&str, &str)]) -> Answer {
        let token = [("token", self.token.as_str())];
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(token.iter().chain(fields)).finish();
        let headers = [("cookie", self.cookie.as_str()), ("sec-fetch-site", "same-origin"), ("origin", "null")];
        self.send(request(Method::POST, address, &headers, &form)).await
    }

    fn note(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.folder.path().join(path), text).unwrap();
    }
}

impl Drop for Env {
    fn drop(&mut self) {
        self.site.finish();
    }
}

/// A request of the browser, with what else it sends; `host` and `user-agent` take the place of its own.
fn request(method: Method, address: &str, headers: &[(&str, &str)], form: &str) -> Request<Body> {
    let mut request = Request::new(Body::from(form.to_owned()));
    *request.uri_mut() = address.parse().unwrap();
    if method == Method::POST {
        request.headers_mut().insert(CONTENT_TYPE, "application/x-www-form-urlencoded".parse().unwrap());
    }
    *request.method_mut() = method;
    request.headers_mut().insert(HOST, HOME.parse().unwrap());
    request.headers_mut().insert(USER_AGENT, "a browser".parse().unwrap());
    for (name, value) in headers {
        let name: axum::http::HeaderName = name.parse().unwrap();
        if matches!(name, HOST | USER_AGENT | CONTENT_TYPE | COOKIE) {
            request.headers_mut().remove(&name);
        }
        request.headers_mut().append(name, value.parse().unwrap());
    }
    request
}

#[track_caller]
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no {start} in {text}"));
    rest.split(end).next().unwrap()
}
