//! Three small actions on whole lines, for models under 4B: `replace_text`, `append_line`, `delete_line`.

use super::Parsed;

pub(super) fn parse(_text: &str, _is_lossy: bool) -> Option<Parsed> {
    None
}
