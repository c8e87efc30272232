//! What the person settles about servers and their tools.

use serde_json::json;

use super::args::{CacheResults, Keep, Names};
use super::login::runtime;
use super::registry::{Registry, unknown};
use crate::args::Global;
use crate::client;
use crate::config::Sources;
use crate::output::say;
use crate::stop::{Stop, usage};
use memdir_core::catalog;
use memdir_core::report::{Code, Failure};
use memdir_tools::{Permission, Server, ServerName, ToolName, ToolRule};

/// Removes a server, then what is kept of it and what clients were granted of it: another server of that name inherits nothing. After
/// a crash in between, the same command removes the rest.
pub(super) fn remove(global: &Global, registry: &Registry, name: &ServerName) -> Result<u8, Stop> {
    let known = registry.read()?;
    let was_there = known.iter().any(|server| server.name == *name);
    if was_there {
        registry.change(|servers| {
            servers.retain(|server| server.name != *name);
            Ok(())
        })?;
    }
    let had_more = runtime()?.block_on(memdir_hub::forget(name, &registry.places()))?;
    let clients = client::ungrant(&Sources::read()?, name)?;
    if !was_there && !had_more && clients.is_empty() {
        return Err(unknown(name.as_str(), &known).into());
    }
    global.answer(&json!({"removed": name, "clients": clients}), |_| {
        say(format!("`{name}` is removed; running programs can no longer call its tools"))?;
        Ok(clients.iter().try_for_each(|client| say(format!("client `{client}` is no longer granted its tools")))?)
    })
}

pub(super) fn enable(global: &Global, registry: &Registry, name: &ServerName, enabled: bool) -> Result<u8, Stop> {
    registry.change_one(name, |server| server.enabled = enabled)?;
    global.answer(&json!({"name": name, "enabled": enabled}), |_| {
        let out = "disabled; running programs can no longer call its tools";
        Ok(say(format!("`{name}` is {}", if enabled { "in use" } else { out }))?)
    })
}

pub(super) fn permit(global: &Global, registry: &Registry, names: &Names, to: Permission) -> Result<u8, Stop> {
    registry.change(|servers| names.names.iter().try_for_each(|name| permit_one(servers, name, to)))?;
    let named: Vec<&String> = names.names.iter().collect();
    global.answer(&json!({"names": named, "permission": to}), |_| {
        let what = match to {
            Permission::Allow => "is called without a question",
            Permission::Ask => "is asked about before each call",
            Permission::Deny => "is never called",
        };
        Ok(named.iter().try_for_each(|name| say(format!("{name} {what}")))?)
    })
}

/// Settles it for a server, which its tools with a permission of their own keep, or for one tool.
fn permit_one(servers: &mut [Server], name: &str, to: Permission) -> Result<(), Failure> {
    if let Some(server) = servers.iter_mut().find(|server| server.name.as_str() == name) {
        server.permission = to;
        return Ok(());
    }
    with_tool(servers, name, |rule| rule.permission = Some(to))
}

pub(super) fn cache(global: &Global, registry: &Registry, options: &CacheResults) -> Result<u8, Stop> {
    let CacheResults { tool, keep: Keep(keep) } = options;
    registry.change(|servers| with_tool(servers, tool, |rule| rule.cache_seconds = *keep))?;
    global.answer(&json!({"tool": tool, "cache_seconds": keep}), |_| {
        let kept = match keep {
            Some(seconds) => format!("kept for {seconds} s, for each client its own"),
            None => "not kept".to_owned(),
        };
        Ok(say(format!("results of {tool} are {kept}"))?)
    })
}

/// Changes what holds for the tool that is offered under this name.
fn with_tool(servers: &mut [Server], name: &str, edit: impl FnOnce(&mut ToolRule)) -> Result<(), Failure> {
    let Some(at) = ToolName::server_in(name).and_then(|named| servers.iter().position(|server| server.name == named))
    else {
        return Err(match ToolName::server_in(name) {
            Some(server) => unknown(server.as_str(), servers),
            None if servers.iter().any(|server| server.name.as_str() == name) => usage(
                format!("`{name}` is a server"),
                format!("name one of its tools: `memdir tools show {name}` lists them"),
            ),
            None => unknown(name, servers),
        });
    };
    let Some(server) = servers.get_mut(at) else { return Err(unknown(name, &[])) };
    let is_known = |own: &&str| !server.is_approved() || server.tools.contains_key(*own);
    let own = server.own_name(name).filter(is_known).map(str::to_owned);
    let Some(own) = own else { return Err(no_tool(server, name)) };
    let rule = server.tools.entry(own.clone()).or_default();
    edit(rule);
    if *rule == ToolRule::default() {
        server.tools.remove(&own);
    }
    Ok(())
}

/// The server has no tool that is offered under this name.
pub(super) fn no_tool(server: &Server, name: &str) -> Failure {
    let offered: Vec<ToolName> = server.tools.keys().map(|own| ToolName::of(&server.name, own)).collect();
    let hint = nearest_tool(&server.name, name, offered.iter());
    Failure::new(Code::NotFound, format!("`{}` has no tool `{}`", server.name, catalog::shorten(name))).with_hint(hint)
}

/// The hint for a name that none of a server's tools has: the one that is most like it, or where they stand.
pub(super) fn nearest_tool<'t>(server: &ServerName, name: &str, offered: impl Iterator<Item = &'t ToolName>) -> String {
    // What all names begin with is no likeness.
    let start = format!("{server}__");
    let ends: Vec<&str> = offered.filter_map(|name| name.as_str().strip_prefix(&start)).collect();
    match catalog::nearest(name.strip_prefix(&start).unwrap_or(name), ends.into_iter()) {
        Some(nearest) => format!("did you mean `{start}{nearest}`?"),
        None => format!("`memdir tools show {server}` lists them"),
    }
}

#[cfg(test)]
mod tests {
    use memdir_tools::read_registry;

    use super::*;

    fn servers() -> Vec<Server> {
        let pin = memdir_core::digest::Digest::of(b"x");
        let text = format!(
            "version = 1\n[[server]]\nname = \"time\"\nenabled = true\ntransport = {{ kind = \"stdio\", command = \"clock\" }}\n\
             [server.tools.now]\npin = \"{pin}\"\n[server.tools.\"what is it?\"]\npin = \"{pin}\"\n\
             [[server]]\nname = \"new\"\nenabled = true\ntransport = {{ kind = \"stdio\", command = \"x\" }}\n"
        );
        read_registry(&text).unwrap()
    }

    fn of<'s>(servers: &'s [Server], name: &str) -> &'s Server {
        servers.iter().find(|server| server.name.as_str() == name).unwrap()
    }

    #[test]
    fn a_permission_is_of_the_server_or_of_one_tool_by_any_name_it_is_offered_under() {
        let mut servers = servers();
        permit_one(&mut servers, "time", Permission::Allow).unwrap();
        permit_one(&mut servers, "time__now", Permission::Deny).unwrap();
        let odd = ToolName::of(&of(&servers, "time").name, "what is it?");
        assert_ne!(odd.as_str(), "time__what is it?");
        permit_one(&mut servers, odd.as_str(), Permission::Ask).unwrap();
        let time = of(&servers, "time");
        assert_eq!(time.permission_of("now"), Permission::Deny);
        assert_eq!(time.permission_of("what is it?"), Permission::Ask);
        assert_eq!(time.permission_of("another"), Permission::Allow);
        // Nothing is known of the other server's tools yet.
        permit_one(&mut servers, "new__later", Permission::Deny).unwrap();
        assert_eq!(of(&servers, "new").permission_of("later"), Permission::Deny);
    }

    #[test]
    fn what_is_not_there_is_not_settled() {
        for (name, hint) in [
            ("time__nows", "did you mean `time__now`?"),
            ("time__zzz", "`memdir tools show time` lists them"),
            ("tim__now", "did you mean `time`?"),
            ("nothing", "there is new, time"),
            ("", "there is new, time"),
        ] {
            let mut all = servers();
            let failure = permit_one(&mut all, name, Permission::Allow).unwrap_err();
            assert_eq!((failure.code, failure.hint.as_deref()), (Code::NotFound, Some(hint)), "{name}");
            assert_eq!(all, servers());
        }
        let failure = with_tool(&mut servers(), "time", |rule| rule.cache_seconds = None).unwrap_err();
        assert_eq!(failure.code, Code::Usage);
    }

    #[test]
    fn a_rule_that_says_nothing_is_not_kept() {
        let mut servers = servers();
        with_tool(&mut servers, "new__a", |rule| rule.cache_seconds = std::num::NonZeroU32::new(9)).unwrap();
        assert!(of(&servers, "new").tools.contains_key("a"));
        with_tool(&mut servers, "new__a", |rule| rule.cache_seconds = None).unwrap();
        assert!(of(&servers, "new").tools.is_empty());
    }
}
