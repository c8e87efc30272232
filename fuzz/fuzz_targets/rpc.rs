//! Whatever a client sends as JSON-RPC, on streams and over HTTP: the server does not panic, every answer is a message, and a
//! client learns nothing of what it was not granted and changes nothing there.
//!
//! The input is messages, one a line.

#![no_main]

use std::cell::RefCell;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response};
use libfuzzer_sys::fuzz_target;
use memdir_engine::{Engine, InboxPlace, IndexPlace, Settings};
use memdir_mcp::{
    Claim, Client, HttpOptions, Options, Register, Server, ToolGrant, ToolSet, Unknown, http_routes, serve_streams,
};
use memdir_plan::Limits;
use memdir_policy::{Grant, Mode, Rules};
use memdir_vault::{self as vault, Durability, Vault};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// A word of the note that the client is not shown, and one of its path.
const HIDDEN: [&str; 2] = ["quokkawombat", "numbatbilby"];
const SECRET: &str = "# Secret\n\n- word: quokkawombat\n- see [[open/note]]\n";
/// How many inputs one memory takes, so that it stays small.
const KEPT: usize = 200;
const NEWEST: &str = "2026-07-28";
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"fuzz","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

thread_local! {
    static SITE: RefCell<Option<(Site, usize)>> = const { RefCell::new(None) };
}

fuzz_target!(|input: &[u8]| {
    // What the client says itself may be said back.
    let text = String::from_utf8_lossy(input).to_lowercase();
    if HIDDEN.iter().any(|word| text.contains(word)) {
        return;
    }
    SITE.with_borrow_mut(|site| {
        let (site, uses) = site.get_or_insert_with(|| (Site::new(), 0));
        site.check(input);
        *uses += 1;
        *uses == KEPT
    })
    .then(|| SITE.take());
});

struct Site {
    folder: TempDir,
    server: Arc<Server>,
    routes: Router,
    runtime: Runtime,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let memory = folder.path().join("memory");
        fs::create_dir_all(memory.join("open")).unwrap();
        fs::create_dir_all(memory.join(HIDDEN[1])).unwrap();
        fs::write(memory.join("open/note.md"), format!("# Open\n\nSee [[{}/secret]].\n", "elsewhere")).unwrap();
        fs::write(memory.join(HIDDEN[1]).join("secret.md"), SECRET).unwrap();
        fs::write(folder.path().join("outside.md"), SECRET).unwrap();
        let globs = ["open/**".to_owned()];
        let grant = Arc::new(Grant::new(&globs, &globs, None).unwrap());
        let clients = Register::new(move |claim| match claim {
            Claim::Token("token") | Claim::Name("fuzz") => {
                let (grant, tools) = (Some(grant.clone()), ToolGrant::default());
                Ok(Client { name: "fuzz".to_owned(), grant, tools, rate: None, may_approve: false })
            }
            _ => Err(Unknown),
        });
        let options = Options { tools: ToolSet::Full, read_only: false, mode: Mode::Ask, hub: None };
        let server = Server::new(engine(&memory), options, Arc::new(clients)).unwrap();
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let routes = http_routes(server.clone(), HttpOptions::default(), CancellationToken::new());
        Self { folder, server, routes, runtime }
    }

    fn check(&self, input: &[u8]) {
        self.runtime.block_on(async {
            for opening in ["", INITIALIZE] {
                self.on_streams(opening, input).await;
            }
            self.over_http(input).await;
        });
        let secret = self.folder.path().join("memory").join(HIDDEN[1]).join("secret.md");
        assert_eq!(fs::read_to_string(secret).unwrap(), SECRET);
        assert_eq!(fs::read_to_string(self.folder.path().join("outside.md")).unwrap(), SECRET);
        assert_eq!(fs::read_dir(self.folder.path()).unwrap().count(), 2);
    }

    async fn on_streams(&self, opening: &str, input: &[u8]) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(theirs);
        let client = Some("fuzz".to_owned());
        let served = serve_streams(self.server.clone(), client, (read, write), CancellationToken::new());
        let (mut read, mut write) = tokio::io::split(ours);
        let send = async {
            let opening = if opening.is_empty() { String::new() } else { format!("{opening}\n{INITIALIZED}\n") };
            // The server may have left.
            let _ = write.write_all(opening.as_bytes()).await;
            let _ = write.write_all(input).await;
            let _ = write.write_all(b"\n").await;
            let _ = write.shutdown().await;
            drop(write);
        };
        let mut answers = Vec::new();
        let receive = read.read_to_end(&mut answers);
        let (_, _, received) =
            timeout(Duration::from_secs(30), async { tokio::join!(served, send, receive) }).await.expect("it hangs");
        received.unwrap();
        for line in answers.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            check_message(line);
        }
    }

    async fn over_http(&self, input: &[u8]) {
        let opened = self.post(INITIALIZE.as_bytes(), &[]).await;
        let session = opened.headers().get("mcp-session-id").unwrap().to_str().unwrap().to_owned();
        check_answer(opened).await;
        let session = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-06-18")];
        check_answer(self.post(INITIALIZED.as_bytes(), &session).await).await;
        for line in input.split(|byte| *byte == b'\n').take(8) {
            check_answer(self.post(line, &session).await).await;
            let message: Value = serde_json::from_slice(line).unwrap_or_default();
            let mut headers = vec![("mcp-protocol-version", NEWEST)];
            headers.extend(message["method"].as_str().map(|method| ("mcp-method", method)));
            let name = ["name", "uri"].iter().find_map(|key| message["params"][*key].as_str());
            headers.extend(name.map(|name| ("mcp-name", name)));
            check_answer(self.post(line, &headers).await).await;
        }
    }

    async fn post(&self, body: &[u8], headers: &[(&str, &str)]) -> Response<Body> {
        let mut request = Request::post("/mcp")
            .header("host", "localhost")
            .header("authorization", "Bearer token")
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        for (name, value) in headers {
            if value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
                request = request.header(*name, *value);
            }
        }
        let request = request.body(Body::from(body.to_vec())).unwrap();
        self.routes.clone().oneshot(request).await.unwrap()
    }
}

/// The messages of an answer over HTTP. Streams without an end are left after a moment.
async fn check_answer(response: Response<Body>) {
    let is_stream = response.headers().get("content-type").is_some_and(|kind| kind == "text/event-stream");
    let Ok(body) = timeout(Duration::from_secs(2), to_bytes(response.into_body(), usize::MAX)).await else { return };
    let body = body.unwrap();
    if is_stream {
        let text = std::str::from_utf8(&body).unwrap();
        for data in text.lines().filter_map(|line| line.strip_prefix("data:")).filter(|data| !data.trim().is_empty()) {
            check_message(data.as_bytes());
        }
    } else if body.first() == Some(&b'{') {
        check_message(&body);
    } else {
        check_hidden(&body);
    }
}

fn check_message(line: &[u8]) {
    let message: Value = serde_json::from_slice(line).expect("an answer is JSON");
    assert_eq!(message["jsonrpc"], "2.0");
    check_hidden(line);
}

fn check_hidden(answer: &[u8]) {
    let text = String::from_utf8_lossy(answer).to_lowercase();
    assert!(!HIDDEN.iter().any(|word| text.contains(word)), "{text}");
}

fn engine(memory: &std::path::Path) -> Engine {
    let root = memory.canonicalize().unwrap();
    let dir = cap_std::fs::Dir::open_ambient_dir(&root, cap_std::ambient_authority()).unwrap();
    let options = vault::Options { durability: Durability::Atomic, ..vault::Options::default() };
    let settings = Settings {
        limits: Limits::default(),
        batch_actions: 100,
        batch_time: Duration::from_secs(30),
        rules: Rules::default(),
        index: IndexPlace::Nowhere,
        inbox: InboxPlace::Process,
        past_status: Vec::new(),
        archive: Vec::new(),
        pinned: Vec::new(),
        keep_proposals: Duration::from_secs(600),
        clock: || SystemTime::now().into(),
    };
    Engine::new(Vault::open(dir, root, options).unwrap(), settings)
}
