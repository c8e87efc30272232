//! `memdir serve`: the memory on a page, for browsers of this machine.

use std::io::{self, BufRead, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use clap::Args;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::args::Global;
use super::config::Sources;
use super::output::say;
use super::person_files::FilesOf;
use super::stop::{Stop, usage};
use super::talk::KeptModel;
use super::{desktop, interrupt, open, term, tools};
use memdir_core::report::{Code, Failure};
use memdir_server::{Limits, Names, listen};
use memdir_web::{DoorEvent, EntryCode, Site, WebOptions, serve_web};

/// Where the page is unless another port is named, so that its addresses can be kept.
const PORT: u16 = 8733;

pub(super) const LONG: &str = "Show the memory on a page in your browser: read, search, correct and take back.

Prints an address that lets one browser in, once, within ten minutes, and opens it where there is a desktop. Press Enter for another one. \
The page is on this machine alone, and shows and does what your commands do: every change is in the history, and can be \
undone. Ctrl-C ends it.";

/// Options of `serve`.
#[derive(Args, Debug)]
pub(super) struct ServeArgs {
    /// The port of this machine at which the page is; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = PORT)]
    pub(super) port: u16,
    /// Open the page in the browser, also where there seems to be no desktop
    #[arg(long, overrides_with = "no_open")]
    pub(super) open: bool,
    /// Only print the address
    #[arg(long)]
    pub(super) no_open: bool,
}

/// What is printed for each code.
#[derive(Serialize)]
struct Entrance {
    url: String,
}

pub(super) fn run(global: &Global, options: &ServeArgs) -> Result<u8, Stop> {
    let opened = open::open_to_read(global)?;
    let broken = |error: io::Error| Failure::new(Code::Internal, format!("the page cannot start: {error}"));
    let listener = listen_at(options.port)?;
    let address = listener.local_addr().map_err(broken)?;
    let (files, model) = (FilesOf(opened.root.clone()), KeptModel::new(global, &opened.config));
    let settled = WebOptions {
        port: address.port(),
        names: Names::default(),
        is_obsidian_vault: opened.root.join(".obsidian").is_dir(),
        has_desktop: options.open || desktop::is_there(),
        root: opened.root,
        mode: opened.config.permission.cli,
    };
    let site = Site::new(opened.engine, settled);
    site.set_person_files(Arc::new(files));
    site.set_chat_model(Arc::new(model));
    match tools::start_hub(&Sources::read()?) {
        Ok(hub) => site.set_toolbox(hub),
        Err(failure) => say(format!("note: the page Tools is empty: {}", failure.message))?,
    }
    // Where nobody listens any more, the page goes on.
    site.tell_of_door(|event| drop(say(told(&event))));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(broken)?;
    let stop = CancellationToken::new();
    interrupt::stop_on_signal(&runtime, stop.clone()).map_err(broken)?;
    let url = show(global, address, &site.new_code().map_err(broken)?)?;
    if (options.open || (!options.no_open && desktop::is_there()))
        && let Err(error) = desktop::open(url.as_ref())
    {
        say(format!("the browser was not opened: {}", term::escape_line(&error.to_string())))?;
    }
    show_more_on_enter(global, address, &site).map_err(broken)?;
    runtime.block_on(serve_web(listener, Arc::clone(&site), Limits::default(), stop)).map_err(broken)?;
    // Somebody may never press Enter.
    runtime.shutdown_background();
    site.finish();
    Ok(0)
}

/// What the terminal says of the door; a browser's name is its own word, and is escaped.
fn told(event: &DoorEvent) -> String {
    match event {
        DoorEvent::LetIn(name) => format!("a browser was let in: {}", term::escape_line(name)),
        DoorEvent::PutOut(name) => format!(
            "an address was opened a second time, so the browser that had come in by it is out: {}",
            term::escape_line(name)
        ),
    }
}

fn listen_at(port: u16) -> Result<TcpListener, Failure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    listen(address).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AddrInUse => {
                "if the page is served already, press Enter where `memdir serve` runs; else name another port: `memdir serve --port 0`"
            }
            _ => "name another port, or 0 for any that is free",
        };
        usage(format!("nothing can come in at `{address}`: {}", error.kind()), hint)
    })
}

/// Prints the address at which a code lets one browser in, and gives it.
fn show(global: &Global, server: SocketAddr, code: &EntryCode) -> Result<String, Stop> {
    let url = format!("http://{server}{}", code.address());
    global.answer(&Entrance { url: url.clone() }, |stdout| {
        writeln!(stdout, "{url}")?;
        Ok(())
    })?;
    if !global.json {
        say(
            "open it in your browser: it lets one browser in, once, within ten minutes; Enter prints another, Ctrl-C ends the page",
        )?;
    }
    Ok(url)
}

/// Prints another address each time the person presses Enter. The one before works no more then.
fn show_more_on_enter(global: &Global, server: SocketAddr, site: &Arc<Site>) -> io::Result<()> {
    let (global, site) = (global.clone(), Arc::downgrade(site));
    let wait = move || {
        let mut lines = io::stdin().lock().lines();
        while let (Some(Ok(_)), Some(site)) = (lines.next(), site.upgrade()) {
            let shown = site.new_code().map_err(Stop::from).and_then(|code| show(&global, server, &code));
            if shown.is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("enter".to_owned()).spawn(wait).map(drop)
}
