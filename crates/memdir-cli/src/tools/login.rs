//! `memdir tools login` and `logout`: at servers that ask who the person is.

use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use super::registry::{Registry, places};
use crate::args::Global;
use crate::exit::Stop;
use crate::interrupt;
use crate::output::{io_failure, say};
use memdir_core::report::Failure;
use memdir_tools::ServerName;

pub(super) fn login(global: &Global, registry: &Registry, name: &ServerName) -> Result<u8, Stop> {
    let server = registry.server(name)?;
    let open = |address: &str| {
        // Where it cannot be shown, the login waits in vain and ends by itself.
        let _ = say(format!("open this address in your browser, and log in there: {address}"));
    };
    let done = runtime()?.block_on(memdir_hub::login(&server, &places(), open, &interrupt::stop()));
    done.map_err(Failure::from)?;
    global.answer(&json!({"name": name, "logged_in": true}), |_| {
        say(format!("you are logged in at `{name}`"))?;
        Ok(say(format!("`memdir tools approve {name}` shows its tools"))?)
    })
}

pub(super) fn logout(global: &Global, registry: &Registry, name: &ServerName) -> Result<u8, Stop> {
    let server = registry.server(name)?;
    runtime()?.block_on(memdir_hub::logout(&server, &places())).map_err(Failure::from)?;
    global.answer(&json!({"name": name, "logged_in": false}), |_| {
        Ok(say(format!("what the login at `{name}` gave is forgotten here; it may be good there for some time"))?)
    })
}

fn runtime() -> Result<Runtime, Failure> {
    Builder::new_current_thread().enable_all().build().map_err(io_failure("the login cannot begin"))
}
