//! A program that holds a hub, for a test that kills it.
//!
//! `hub_holder SERVER FOLDER MARK` starts two servers of the program SERVER, one of which does not mind that its input ends, has
//! each start two processes of its own, of which one leaves its group, leaves a call of each in flight, and then prints `ready`.

#![expect(clippy::expect_used, reason = "a program for tests")]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use memdir_core::report::Failure;
use memdir_hub::{Hub, Places, RegistrySource};
use memdir_tools::{Permission, Server, ServerName, ToolCall, ToolName, Toolbox, Transport};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

struct Fixed(Vec<Server>, AtomicBool);

impl RegistrySource for Fixed {
    fn read_if_changed(&self) -> Result<Option<Vec<Server>>, Failure> {
        Ok((!self.1.swap(true, Ordering::Relaxed)).then(|| self.0.clone()))
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [program, folder, mark] = arguments.as_slice() else { return };
    let server = |name: &str, args: Vec<String>| {
        let transport = Transport::Stdio { command: program.clone(), args, env: BTreeMap::new(), cwd: None };
        let server = Server::new(ServerName::parse(name).expect("a name"), transport);
        Server { permission: Permission::Allow, ..server }
    };
    let servers = vec![server("one", vec![mark.clone()]), server("two", vec!["--stubborn".to_owned(), mark.clone()])];
    let places = Places {
        lists: Some(PathBuf::from(folder)),
        environment: std::env::vars().collect(),
        guard: vec![program.clone(), "__guard".to_owned()],
        ..Places::default()
    };
    let hub = Hub::start(Box::new(Fixed(servers, AtomicBool::new(false))), places).expect("a hub");
    let call = |server: &str, tool: &str, arguments: Value| {
        let arguments = arguments.as_object().cloned().expect("an object");
        let tool = ToolName::of(&ServerName::parse(server).expect("a name"), tool);
        let call = ToolCall { tool, arguments, client: None };
        hub.call(&call, &mut (), &CancellationToken::new())
    };
    for server in ["one", "two"] {
        for leaves in [true, false] {
            call(server, "orphan", json!({"leaves": leaves})).expect("an orphan");
        }
    }
    thread::scope(|scope| {
        for server in ["one", "two"] {
            scope.spawn(move || {
                loop {
                    let _ = call(server, "slow", json!({"seconds": 60}));
                }
            });
        }
        thread::sleep(Duration::from_millis(50));
        writeln!(std::io::stdout(), "ready").expect("an output");
    });
}
