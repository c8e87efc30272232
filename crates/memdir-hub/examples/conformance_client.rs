//! The client that the official conformance suite drives, over the same hub as memdir itself.
//!
//! `conformance_client URL`: connects to the server, logs in where it asks for that, lists its tools, and calls each of them, or what
//! the suite wants. The suite says more in its variables `MCP_CONFORMANCE_SCENARIO` and `MCP_CONFORMANCE_CONTEXT`. A browser
//! that follows each redirect and fills each form is the person: they agree to everything, and answer each question with its defaults.
//!
//! `MEMDIR_TOKENS` names a file of tokens to use in the place of a new one, `MEMDIR_LOGINS` how often the person may log in.
//! With `MEMDIR_PLACE=keyring` they are kept in the system's keyring, where the feature is on.
//! `MEMDIR_KIND=sse` speaks to a server of that kind. The results of the calls go to standard output, one a line.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a program for tests, which reads its environment"
)]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use memdir_core::report::Failure;
use memdir_hub::{Hub, Places, RegisteredClient, RegistrySource, TokenPlace, Tokens, login_as};
use memdir_tools::{
    CallError, CallEvents, Elicitation, ElicitationAnswer, Permission, Server, ServerName, Tool, ToolCall, Toolbox,
    Transport,
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

/// How often the person logs in before they give up, unless `MEMDIR_LOGINS` says otherwise.
const MOST_LOGINS: usize = 3;
/// A client that describes itself at an address: the one that the suite knows.
const CLIENT: &str = "https://conformance-test.local/client-metadata.json";
const FORM: &str = "application/x-www-form-urlencoded";

fn main() -> ExitCode {
    let Some(url) = std::env::args().next_back() else { return ExitCode::FAILURE };
    match run(&url) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(url: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = variable("MEMDIR_TOKENS").map_or_else(|| folder.path().join("tokens.json"), Into::into);
    let place = match variable("MEMDIR_PLACE").as_deref() {
        Some("keyring") => TokenPlace::Keyring,
        _ => TokenPlace::File,
    };
    let places = Places { tokens: Some(Tokens { file, place }), ..Places::default() };
    let name = ServerName::parse("conformance").map_err(|error| error.to_string())?;
    let server = server(&name, url);
    let hub =
        Hub::start(Box::new(One(Mutex::new(Some(server.clone())))), places.clone()).map_err(|error| error.message)?;
    let left = variable("MEMDIR_LOGINS").and_then(|most| most.parse().ok()).unwrap_or(MOST_LOGINS);
    let mut person = Person { server, places, left };
    let stop = CancellationToken::new();
    let examined = person.ask(|| hub.connect_now(&name, &stop))?;
    eprintln!("{examined:?}");
    let tools = hub.tools();
    for (tool, arguments) in wanted(&tools) {
        let call = ToolCall { tool: tool.name.clone(), arguments, client: None };
        let answer = person.ask(|| hub.call(&call, &mut Agrees, &stop))?;
        println!("{} {}", tool.own, Value::Object(answer.result));
    }
    Ok(())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn context() -> Value {
    variable("MCP_CONFORMANCE_CONTEXT").and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn server(name: &ServerName, url: &str) -> Server {
    let (url, headers) = (url.to_owned(), BTreeMap::new());
    let transport = match variable("MEMDIR_KIND").as_deref() {
        Some("sse") => Transport::Sse { url, headers },
        _ => Transport::Http { url, headers },
    };
    Server { permission: Permission::Allow, ..Server::new(name.clone(), transport) }
}

/// The registry: one server.
struct One(Mutex<Option<Server>>);

impl RegistrySource for One {
    fn read_if_changed(&self) -> Result<Option<Vec<Server>>, Failure> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map(|server| vec![server]))
    }
}

/// Which tools are called, and how.
fn wanted(tools: &[Tool]) -> Vec<(&Tool, Map<String, Value>)> {
    let context = context();
    if let Some(calls) = context.get("toolCalls").and_then(Value::as_array) {
        let call = |call: &Value| {
            let named = call.get("name")?.as_str()?;
            Some((tools.iter().find(|tool| tool.own == named)?, call.get("arguments")?.as_object()?.clone()))
        };
        return calls.iter().filter_map(call).collect();
    }
    tools.iter().map(|tool| (tool, arguments(tool, tools))).collect()
}

/// Something for each argument that a tool must have.
fn arguments(tool: &Tool, tools: &[Tool]) -> Map<String, Value> {
    let schema = tool.definition.get("inputSchema").unwrap_or(&Value::Null);
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| match schema.pointer(&format!("/properties/{name}/type")).and_then(Value::as_str) {
        // The suite has one tool that wants back the schema of the other.
        Some("object") if tool.own == "json_schema_echo" => tools
            .iter()
            .find(|other| other.own != tool.own)
            .and_then(|other| other.definition.get("inputSchema"))
            .cloned(),
        Some("number" | "integer") => Some(json!(1)),
        Some("boolean") => Some(json!(true)),
        Some("array") => Some(json!([])),
        Some("object") => Some(json!({})),
        _ => Some(json!("test")),
    };
    required.filter_map(|name| Some((name.to_owned(), value(name)?))).collect()
}

/// Answers each question with its defaults.
struct Agrees;

impl CallEvents for Agrees {
    fn elicit(&mut self, elicitation: &Elicitation) -> ElicitationAnswer {
        let asked = elicitation.params.get("requestedSchema").and_then(|schema| schema.get("properties"));
        let default = |(name, schema): (&String, &Value)| Some((name.clone(), schema.get("default")?.clone()));
        ElicitationAnswer::Accept(asked.and_then(Value::as_object).into_iter().flatten().filter_map(default).collect())
    }
}

/// The person, who logs in when they are asked to.
struct Person {
    server: Server,
    places: Places,
    /// How often they still do.
    left: usize,
}

impl Person {
    fn ask<T>(&mut self, attempt: impl Fn() -> Result<T, CallError>) -> Result<T, String> {
        loop {
            match attempt() {
                Ok(done) => return Ok(done),
                Err(CallError::LoginNeeded(_)) if self.left > 0 => self.login()?,
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    fn login(&mut self) -> Result<(), String> {
        self.left -= 1;
        let context = context();
        let text = |key: &str| context.get(key).and_then(Value::as_str).map(str::to_owned);
        let client = RegisteredClient {
            id: text("client_id").unwrap_or_else(|| CLIENT.to_owned()),
            secret: text("client_secret"),
            issuer: text("issuer"),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let stop = CancellationToken::new();
        let login = login_as(&self.server, &self.places, Some(client), |page| visit(&page.address), &stop);
        runtime.block_on(login).map_err(|error| error.to_string())
    }
}

/// The browser, and the person in front of it.
fn visit(address: &str) {
    let address = address.to_owned();
    tokio::spawn(async move { browse(&address).await });
}

/// Visits an address: keeps cookies, follows each redirect, fills and sends each form.
async fn browse(address: &str) -> Option<()> {
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().ok()?;
    let (mut url, mut form) = (reqwest::Url::parse(address).ok()?, None);
    let mut cookies: BTreeMap<String, String> = BTreeMap::new();
    loop {
        let request = match form.take() {
            Some(filled) => browser.post(url.clone()).header("content-type", FORM).body(filled),
            None => browser.get(url.clone()),
        };
        let sent: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let page = request.header("cookie", sent.join("; ")).send().await.ok()?;
        for cookie in page.headers().get_all("set-cookie") {
            let (name, value) = cookie.to_str().ok()?.split(';').next()?.split_once('=')?;
            cookies.insert(name.to_owned(), value.to_owned());
        }
        if let Some(location) = page.headers().get("location") {
            url = url.join(location.to_str().ok()?).ok()?;
            continue;
        }
        let text = page.text().await.ok()?;
        let (_, found) = text.split_once("<form ")?;
        let attribute = |before: &str| found.split_once(before)?.1.split('"').next();
        url = url.join(attribute("action=\"")?).ok()?;
        form = Some(format!("prompt={}&login=tester&password=tester", attribute("name=\"prompt\" value=\"")?));
    }
}
