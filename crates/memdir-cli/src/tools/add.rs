//! `memdir tools add`: a server is written down, started, and its tools approved.

use std::path::Path;

use serde_json::json;

use super::approve::{Asking, settle};
use super::args::AddServer;
use super::registry::Registry;
use super::shown::starts;
use crate::args::Global;
use crate::client;
use crate::config::Sources;
use crate::exit::code;
use crate::output::say;
use crate::stop::{Stop, usage};
use memdir_core::catalog;
use memdir_core::report::{Code, Failure};
use memdir_policy as policy;
use memdir_tools::{PlainSecret, Server, Transport};

pub(super) fn run(global: &Global, registry: &Registry, options: &AddServer) -> Result<u8, Stop> {
    let server = new_server(options)?;
    refuse_secrets(&server)?;
    let asking = Asking::of(global, options.yes);
    if asking == Asking::Nobody {
        let message = "there is no terminal to ask on, so nothing is added";
        return Err(usage(message, "send `--yes`: it approves the tools that the server has now").into());
    }
    registry.change(|servers| {
        if servers.iter().any(|known| known.name == server.name) {
            let name = &server.name;
            let failure = Failure::new(Code::AlreadyExists, format!("there is a server `{name}`"));
            return Err(failure.with_hint(format!("`memdir tools remove {name}` removes it, or choose another name")));
        }
        servers.push(server.clone());
        Ok(())
    })?;
    let settled = settle(global, registry, &registry.hub()?, &server.name, asking)?;
    // Where the clients cannot be read, none of them can connect either.
    let clients = client::granted(&Sources::read()?, &server.name).unwrap_or_default();
    global.answer(&json!({"server": settled, "transport": server.transport, "clients": clients}), |_| {
        let name = &server.name;
        if settled.problem.is_some() {
            say(format!(
                "`{name}` is added, and none of its tools is approved: `memdir tools approve {name}` tries again"
            ))?;
        } else if settled.approved {
            say(format!("`{name}` is added: {}", starts(&server.transport)))?;
            say("each call is asked about; `memdir tools allow` lets tools be called without asking")?;
        }
        for client in &clients {
            say(format!("note: client `{client}` was granted tools of `{name}` before: `memdir client list`"))?;
        }
        Ok(())
    })?;
    Ok(settled.problem.map_or(0, |problem| code(problem.code)))
}

/// The server that the options describe.
fn new_server(options: &AddServer) -> Result<Server, Failure> {
    let server = Server::new(options.name.clone(), transport(options)?);
    Ok(Server { timeout_seconds: options.timeout, rate: options.rate, ..server })
}

fn transport(options: &AddServer) -> Result<Transport, Failure> {
    if let Some(url) = &options.url {
        let headers = options.header.iter().map(|header| parted(header, ':')).collect::<Result<_, _>>()?;
        let url = url.clone();
        return Ok(if options.sse { Transport::Sse { url, headers } } else { Transport::Http { url, headers } });
    }
    let variable = |text: &String| match text.contains('=') {
        true => parted(text, '='),
        false => Ok((text.clone(), format!("${{{text}}}"))),
    };
    let Some((command, args)) = options.command.split_first() else {
        return Err(usage("no program is named", "send it behind `--`: `memdir tools add NAME -- COMMAND`"));
    };
    Ok(Transport::Stdio {
        // A program that is named by a path is found from the folder that this is typed in, and from no other.
        command: if command.contains(std::path::is_separator) { absolute(command)? } else { command.clone() },
        args: args.to_vec(),
        env: options.env.iter().map(variable).collect::<Result<_, _>>()?,
        cwd: options.cwd.as_deref().map(absolute).transpose()?,
    })
}

/// A name and what stands behind the sign after it.
fn parted(text: &str, sign: char) -> Result<(String, String), Failure> {
    let (name, value) = text.split_once(sign).ok_or_else(|| {
        let form = if sign == ':' { "`NAME: VALUE`" } else { "`NAME=VALUE`" };
        usage(format!("`{}` is not of the form {form}", catalog::shorten(text)), format!("send {form}"))
    })?;
    Ok((name.trim().to_owned(), if sign == ':' { value.trim().to_owned() } else { value.to_owned() }))
}

fn absolute(path: &str) -> Result<String, Failure> {
    let found = std::path::absolute(Path::new(path)).ok().and_then(|path| path.to_str().map(str::to_owned));
    found.ok_or_else(|| usage(format!("`{}` is no path", catalog::shorten(path)), "send another one"))
}

/// Refuses keys that are written out.
fn refuse_secrets(server: &Server) -> Result<(), Failure> {
    let found = server.transport.plain_secrets(&policy::holds_secret);
    let Some(first) = found.first() else { return Ok(()) };
    let (what, instead) = match first {
        PlainSecret::Env(name) => (format!("the value of `{name}`"), format!("--env {name}")),
        PlainSecret::Header(name) => (format!("the header `{name}`"), format!("--header '{name}: ${{VARIABLE}}'")),
        PlainSecret::Query(name) => {
            (format!("the value of `{name}` in the address"), format!("'{name}=${{VARIABLE}}' in its place"))
        }
        PlainSecret::Argument(_) | PlainSecret::Command => {
            ("the command line".to_owned(), "'${VARIABLE}' in its place".to_owned())
        }
        PlainSecret::Address => ("the address".to_owned(), "'${VARIABLE}' in its place".to_owned()),
    };
    let message = format!("{what} looks like a key, and keys are not kept in a file");
    Err(usage(message, format!("put the key into a variable of the environment, and send {instead}")))
}
