//! The paths of the tool: all start with `/memories`, which is the root of the memory, and none climbs.

use percent_encoding::percent_decode_str;

use super::command::Mistake;
use memdir_core::catalog::{self, shorten};
use memdir_core::path::{MAX_PATH_BYTES, MemoryPath, PathError};
use memdir_core::report::{Code, Failure};

/// What every path starts with.
pub(super) const ROOT: &str = "/memories";

/// A path as an answer repeats it.
pub(super) fn echo(path: &str) -> String {
    if path.len() > MAX_PATH_BYTES { shorten(path) } else { path.to_owned() }
}

/// The place that a path of the tool names; `None` is the root.
pub(super) fn parse(path: &str) -> Result<Option<MemoryPath>, Mistake> {
    let rest = path.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\']));
    let Some(rest) = rest else {
        let said = Some(format!("Path must start with {ROOT}, got: {}", echo(path)));
        let message = format!("path `{}` does not start with `{ROOT}`", shorten(path));
        let hint = format!("send a path such as `{ROOT}/notes.md`");
        return Err(Mistake { failure: Failure::new(Code::InvalidPath, message).with_hint(hint), said });
    };
    if climbs(rest) {
        let said = Some(format!("Path {} would escape {ROOT} directory", echo(path)));
        let failure = catalog::invalid_path(path, PathError::Climbs);
        let failure = failure.with_hint(format!("send a path such as `{ROOT}/notes.md`"));
        return Err(Mistake { failure, said });
    }
    match MemoryPath::parse(rest.trim_start_matches('/')) {
        Ok(path) => Ok(Some(path)),
        Err(PathError::Empty) => Ok(None),
        Err(error) => Err(catalog::invalid_path(path, error).into()),
    }
}

/// Whether a path climbs, in whatever way it is spelled: with `\`, or encoded as in a URL, once or twice.
fn climbs(path: &str) -> bool {
    let once = percent_decode_str(path).decode_utf8_lossy();
    let twice = percent_decode_str(&once).decode_utf8_lossy();
    [path, &once, &twice].iter().any(|path| path.split(['/', '\\']).any(|name| name.trim() == ".."))
}
