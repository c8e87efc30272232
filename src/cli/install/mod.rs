//! `memdir install`: sets up an assistant so that it starts memdir by itself.

use super::args::{Global, Install};
use super::exit::Stop;

pub(super) fn run(_global: &Global, _options: &Install) -> Result<u8, Stop> {
    Ok(0)
}
