//! Who did something and when, as every page shows it.

use maud::{Markup, html};
use memdir_core::digest::Digest;
use memdir_core::report::LogEntry;
use memdir_engine::FoundFact;
use memdir_words::ago;
use memdir_words::who::changed;

use crate::text::seen;

/// How many colours `app.css` has for programs.
const COLOURS: u8 = 8;

/// Who did something: its name, and a colour beside it that is the same on every page and day.
pub(crate) fn who(door: &str, client: Option<&str>) -> Markup {
    html! { span class={ "who " (colour(door, client)) } { (seen(&changed(door, client))) } }
}

/// Who made a change, with the tool whose words it stored.
pub(crate) fn made(entry: &LogEntry) -> Markup {
    let class = format!("who {}", colour(&entry.door, entry.client.as_deref()));
    html! { span class=(class) { (seen(&memdir_words::who::made(entry))) } }
}

/// Who said a fact, and when.
pub(crate) fn source(fact: &FoundFact) -> Option<String> {
    let why = fact.why.as_ref()?;
    if let Some(confirmed) = &why.last_confirmed {
        return Some(format!("confirmed by you, {}", ago::short(&confirmed.time)));
    }
    let last = why.last_written.as_ref()?;
    let when = last.time.as_deref().map_or_else(String::new, |time| format!(", {}", ago::short(time)));
    Some(format!("{}{when}", memdir_words::who::wrote(last)))
}

/// The class of the colour of a program: by its name, else by its door. The person has one that nobody else has.
pub(crate) fn colour(door: &str, client: Option<&str>) -> String {
    if client.is_none() && matches!(door, "cli" | "web") {
        return "who-you".to_owned();
    }
    let digest = Digest::of(client.unwrap_or(door).as_bytes());
    let number = digest.as_bytes().first().map_or(0, |byte| byte % COLOURS);
    format!("who-{number}")
}

/// How long ago a time was, or when; as memdir prints it, RFC 3339.
pub(crate) fn when(time: &str) -> Markup {
    html! { time datetime=(time) { (ago::short(time)) } }
}

#[cfg(test)]
mod tests {
    use super::colour;

    #[test]
    fn a_program_keeps_its_colour_and_none_has_that_of_the_person() {
        assert_eq!(colour("cli", None), "who-you");
        assert_eq!(colour("web", None), "who-you");
        assert_eq!(colour("mcp", Some("shelf")), colour("exec", Some("shelf")));
        for name in ["you", "web", "cli", "shelf", "who-you"] {
            assert_ne!(colour("mcp", Some(name)), "who-you");
        }
        assert_ne!(colour("mcp", None), "who-you");
    }
}
