//! [`Browser`]: Chromium, driven through chromedriver by the W3C WebDriver protocol, which is JSON over HTTP.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::until;
use crate::support::wire::Wire;

/// One browser at a time: each takes a core.
static TURN: Mutex<()> = Mutex::new(());

/// How long a page may take to load, of a program that was built to be tested.
const PAGE_TIME: Duration = Duration::from_secs(60);

/// The name under which the protocol says which element is meant.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with an empty profile that is closed when this goes.
pub(super) struct Browser {
    driver: Child,
    address: String,
    session: String,
    profile: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Browser {
    /// Starts one, or says why there is none.
    pub(super) fn start() -> Option<Self> {
        let (Some(chromium), Some(chromedriver)) =
            (program(&["chromium", "chromium-browser", "google-chrome"]), program(&["chromedriver"]))
        else {
            eprintln!(
                "skipped: there is no chromium with chromedriver here; `scripts/browser` installs them where it can"
            );
            return None;
        };
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let profile = tempfile::Builder::new().prefix("browser-").tempdir().unwrap();
        let mut command = Command::new(chromedriver);
        command.arg("--port=0").env("HOME", profile.path()).stdin(Stdio::null()).stderr(Stdio::null());
        let mut driver = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let said =
            lines.find_map(|line| line.unwrap().split_once("successfully on port ").map(|(_, port)| port.to_owned()));
        let port = said.expect("chromedriver does not start");
        let address = format!("127.0.0.1:{}", port.trim_end_matches('.'));
        // Whatever it goes on to say is let go of.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        let mut browser = Self { driver, address, session: String::new(), profile, _turn: turn };
        let made = browser.ask("POST", "/session", &capabilities(&chromium, browser.profile.path()));
        browser.session = made["sessionId"].as_str().expect("no session").to_owned();
        Some(browser)
    }

    /// Goes to an address and waits until it has loaded.
    #[track_caller]
    pub(super) fn go(&self, url: &str) {
        self.post("url", &json!({"url": url}));
    }

    /// Runs the body of a function in the page and gives what it returns. Works also where the page's own scripts do not run.
    #[track_caller]
    pub(super) fn run(&self, script: &str, arguments: Value) -> Value {
        self.post("execute/sync", &json!({"script": script, "args": arguments}))
    }

    /// As [`Browser::run`], waiting for what the body calls its last argument with.
    #[track_caller]
    pub(super) fn run_async(&self, script: &str, arguments: Value) -> Value {
        self.post("execute/async", &json!({"script": script, "args": arguments}))
    }

    /// A command of the DevTools protocol.
    #[track_caller]
    pub(super) fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.post("goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    /// What was logged since this was last asked: `browser` is the console, `performance` the events of the network.
    pub(super) fn log(&self, kind: &str) -> Vec<Value> {
        self.post("se/log", &json!({"type": kind})).as_array().cloned().unwrap_or_default()
    }

    /// Waits for the first such element that shows this text and clicks on it as a hand does: what is hidden or covered cannot be clicked.
    #[track_caller]
    pub(super) fn click_on(&self, selector: &str, text: &str) {
        let find = "return [...document.querySelectorAll(arguments[0])].find((each) => each.innerText.includes(arguments[1])) ?? null";
        let mut found = Value::Null;
        until(&format!("a {selector} says {text:?}"), || {
            found = self.run(find, json!([selector, text]));
            !found.is_null()
        });
        let element = found[ELEMENT].as_str().unwrap();
        self.post(&format!("element/{element}/click"), &json!({}));
    }

    /// Types into a field, in the place of what is in it, sends it with Enter and waits until another page has loaded.
    #[track_caller]
    pub(super) fn send(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.post(&format!("element/{element}/clear"), &json!({}));
        self.run("document.documentElement.id = 'left'", json!([]));
        self.post(&format!("element/{element}/value"), &json!({"text": format!("{text}\u{e007}")}));
        let has_come = "return document.documentElement.id !== 'left' && document.readyState === 'complete'";
        until(&format!("Enter in {selector} leads to a page"), || self.run(has_come, json!([])) == json!(true));
    }

    /// Types into a field, after what is in it.
    #[track_caller]
    pub(super) fn write(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.post(&format!("element/{element}/value"), &json!({"text": text}));
    }

    /// The address that is shown.
    pub(super) fn address(&self) -> String {
        self.run("return location.href", json!([])).as_str().unwrap().to_owned()
    }

    /// The text that can be seen.
    #[track_caller]
    pub(super) fn text(&self, selector: &str) -> String {
        let found = self.run("return document.querySelector(arguments[0])?.innerText ?? null", json!([selector]));
        found.as_str().unwrap_or_else(|| panic!("no {selector} at {}", self.address())).to_owned()
    }

    /// Whether there is such an element.
    pub(super) fn has(&self, selector: &str) -> bool {
        self.run("return document.querySelector(arguments[0]) !== null", json!([selector])) == json!(true)
    }

    /// Takes the screen for that of a phone or of a desk.
    pub(super) fn resize(&self, width: u32, height: u32) {
        let screen = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.devtools("Emulation.setDeviceMetricsOverride", screen);
    }

    /// Prefers light or dark.
    pub(super) fn prefer(&self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.devtools("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Lets the scripts of pages run or not.
    pub(super) fn scripts(&self, may_run: bool) {
        self.devtools("Emulation.setScriptExecutionDisabled", json!({"value": !may_run}));
    }

    /// The screen as PNG.
    pub(super) fn picture(&self) -> Vec<u8> {
        let taken = self.ask("GET", &format!("/session/{}/screenshot", self.session), &Value::Null);
        base64::Engine::decode(&base64::prelude::BASE64_STANDARD, taken.as_str().unwrap()).unwrap()
    }

    /// Closes the browser and gives what it has noted of everything that it did on the network, names that it looked up included.
    pub(super) fn close(self) -> String {
        self.ask("DELETE", &format!("/session/{}", self.session), &Value::Null);
        fs::read_to_string(self.profile.path().join("network.json")).unwrap()
    }

    #[track_caller]
    fn element(&self, selector: &str) -> String {
        let found = self.post("element", &json!({"using": "css selector", "value": selector}));
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn post(&self, command: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/session/{}/{command}", self.session), body)
    }

    #[track_caller]
    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut wire = Wire::to(&*self.address);
        // The driver itself says when a page takes too long.
        wire.stream.set_read_timeout(Some(2 * PAGE_TIME)).unwrap();
        wire.write(request(method, path, &self.address, &body));
        let answer = wire.answer();
        let mut value: Value = serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
        assert!(answer.status == 200, "{method} {path}: {}", value["value"]["message"]);
        value["value"].take()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its browser when it is asked to; without a driver it ends by itself.
        let mut wire = Wire::to(&*self.address);
        wire.write(request("DELETE", &format!("/session/{}", self.session), &self.address, ""));
        wire.rest_within(Duration::from_secs(5));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn request(method: &str, path: &str, host: &str, body: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn capabilities(chromium: &Path, profile: &Path) -> Value {
    let mut arguments = vec![
        "--headless".to_owned(),
        "--disable-gpu".to_owned(),
        "--disable-quic".to_owned(),
        "--disable-dev-shm-usage".to_owned(),
        "--no-first-run".to_owned(),
        "--disable-background-networking".to_owned(),
        "--disable-component-update".to_owned(),
        "--disable-sync".to_owned(),
        "--window-size=1280,900".to_owned(),
        format!("--user-data-dir={}", profile.join("profile").display()),
        format!("--log-net-log={}", profile.join("network.json").display()),
    ];
    // Chromium's own sandbox does not run under root.
    #[cfg(unix)]
    if rustix::process::geteuid().is_root() {
        arguments.push("--no-sandbox".to_owned());
    }
    let options = json!({"binary": chromium, "args": arguments, "perfLoggingPrefs": {"enablePage": false}});
    json!({"capabilities": {"alwaysMatch": {
        "browserName": "chrome",
        "timeouts": {"pageLoad": PAGE_TIME.as_millis(), "script": PAGE_TIME.as_millis()},
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        "goog:chromeOptions": options,
    }}})
}

/// The first of these programs that there is.
fn program(names: &[&str]) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    names
        .iter()
        .find_map(|name| std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file()))
}
