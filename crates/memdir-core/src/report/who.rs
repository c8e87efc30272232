//! Who did something, in words for a person.

/// Who did something: `you` for what the person did by command or on the page, else the program by its name and its door, so that
/// none passes for the person.
#[must_use]
pub fn who(door: &str, client: Option<&str>) -> String {
    match (client, door) {
        (Some(client), door) => format!("{client} ({door})"),
        (None, "cli" | "web") => "you".to_owned(),
        (None, "mcp" | "library") => format!("a program ({door})"),
        (None, door) => format!("a model ({door})"),
    }
}
