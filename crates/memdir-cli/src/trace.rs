//! The log for operators: on request, to a file, without contents.

use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;

use super::stop::{Stop, usage};

/// Writes events to `file` from now on; without one, nowhere.
#[expect(clippy::disallowed_types, reason = "the person names this file on the command line")]
pub(super) fn start(file: Option<&Path>) -> Result<(), Stop> {
    let Some(file) = file else { return Ok(()) };
    let mut options = std::fs::File::options();
    options.append(true).create(true);
    // It names notes.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = options.open(file);
    let opened = opened.map_err(|error| {
        usage(format!("the log file cannot be written: {}", error.kind()), "name another with `--log FILE`")
    })?;
    let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Mutex::new(opened));
    // Events of other crates may hold what notes say. The names of all of ours begin alike.
    let own = Targets::new().with_target("memdir", tracing::Level::DEBUG);
    let subscriber = tracing_subscriber::registry().with(layer.with_filter(own));
    // Fails only when there is one already, and this is the only place that sets it.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}
