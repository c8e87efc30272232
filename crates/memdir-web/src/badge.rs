//! Who did something, as a name with a colour of its own. The name stands beside the colour always.

use maud::{Markup, html};
use memdir_words::who;

/// So many colours there are, in `app.css`.
const COLOURS: u32 = 8;

/// Who made a change, by its door and its client.
pub(crate) fn changed_by(door: &str, client: Option<&str>) -> Markup {
    let name = who::changed(door, client);
    let class = if name == "you" { "you".to_owned() } else { format!("client-{}", colour(client.unwrap_or(door))) };
    html! { span .who .(class) { (name) } }
}

/// The colour of a client: always the same for the same name.
fn colour(name: &str) -> u32 {
    let hash = name.bytes().fold(2_166_136_261_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    hash % COLOURS
}
