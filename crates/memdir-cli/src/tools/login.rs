//! `memdir tools login` and `logout`: at servers that ask who the person is.

use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use super::args::Login;
use super::registry::Registry;
use crate::args::Global;
use crate::output::{io_failure, say};
use crate::stop::{Stop, usage};
use crate::{config, desktop, interrupt};
use memdir_core::catalog;
use memdir_core::report::Failure;
use memdir_hub::{LoginPage, RegisteredClient};
use memdir_tools::ServerName;

pub(super) fn login(global: &Global, registry: &Registry, options: &Login) -> Result<u8, Stop> {
    let name = &options.name;
    let server = registry.server(name)?;
    let client = options.client_id.clone().map(|id| registered(id, options)).transpose()?;
    let (places, stop) = (registry.places(), interrupt::stop());
    runtime()?.block_on(memdir_hub::login_as(&server, &places, client, open, &stop)).map_err(Failure::from)?;
    global.answer(&json!({"name": name, "logged_in": true}), |_| {
        say(format!("you are logged in at `{name}`"))?;
        Ok(say(format!("`memdir tools approve {name}` shows its tools"))?)
    })
}

pub(super) fn logout(global: &Global, registry: &Registry, name: &ServerName) -> Result<u8, Stop> {
    let server = registry.server(name)?;
    runtime()?.block_on(memdir_hub::logout(&server, &registry.places())).map_err(Failure::from)?;
    global.answer(&json!({"name": name, "logged_in": false}), |_| {
        Ok(say(format!(
            "what the login at `{name}` gave is forgotten here; the server may accept its token for a while"
        ))?)
    })
}

/// A client that the person has registered at the server's authorisation server.
fn registered(id: String, options: &Login) -> Result<RegisteredClient, Failure> {
    let read = |name: &String| {
        config::variable(name).ok_or_else(|| {
            usage(format!("the variable `{}` is not set", catalog::shorten(name)), "put the client's secret into it")
        })
    };
    let secret = options.client_secret.as_ref().map(read).transpose()?;
    Ok(RegisteredClient { id, secret, issuer: options.issuer.clone() })
}

/// Shows where a login takes place, and opens it where there is a desktop.
fn open(page: &LoginPage) {
    let address = &page.address;
    for line in announced(page) {
        // Where it cannot be shown, the login waits in vain and ends by itself.
        let _ = say(line);
    }
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    if is_web && desktop::is_there() {
        // It can be opened by hand.
        let _ = desktop::open(address.as_ref());
    }
}

/// What the person is told before anything is opened. Both origins are what the server named, so they look at them first.
fn announced(page: &LoginPage) -> [String; 2] {
    let LoginPage { address, origin, token_origin } = page;
    [
        format!("you log in at {origin}, and {token_origin} gives memdir the token: go on only if you know both"),
        format!("open this address in your browser, and log in there: {address}"),
    ]
}

/// What waits for connections, and for the system's keyring.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    Builder::new_current_thread().enable_all().build().map_err(io_failure("nothing can be waited for"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_origins_are_said_before_the_address() {
        let page = LoginPage {
            address: "https://accounts.example/authorize?state=1".to_owned(),
            origin: "https://accounts.example".to_owned(),
            token_origin: "https://tokens.example".to_owned(),
        };
        let [first, second] = announced(&page);
        assert!(first.contains("https://accounts.example") && first.contains("https://tokens.example"), "{first}");
        assert!(second.ends_with(&page.address), "{second}");
    }
}
