//! Which tools do what is asked for: by the words of their names, titles, descriptions and arguments, as notes are ranked.

use memdir_note::stem::Languages;
use memdir_note::words;
use memdir_rank::{Bm25, Word, WordSet, best_first};

use super::{CallError, Tool};
use memdir_core::catalog;
use memdir_core::report::Failure;

/// So many words of a question are looked for.
const MOST_WORDS: usize = 32;
/// How much more a word says in a name than in a description, in a title, and in the name of an argument.
const NAME: f64 = 3.0;
const TITLE: f64 = 2.0;
const ARGUMENT: f64 = 1.0;

/// What a tool says of itself.
struct Counted<'t> {
    tool: &'t Tool,
    /// How often each word of the question stands there, by its place, as much as that says.
    counts: Vec<f64>,
    /// How many words there are.
    length: f64,
}

/// The tools that answer a question best, at most so many, the best first; none that has no word of it.
///
/// Words are found in all their forms, in any language; there is no list of words.
#[must_use]
pub fn find<'t>(tools: impl IntoIterator<Item = &'t Tool>, question: &str, most: usize) -> Vec<&'t Tool> {
    let mut asked: Vec<Word> = Vec::new();
    words::each(question, &mut |word, _| {
        if asked.len() < MOST_WORDS && asked.iter().all(|known| known.text() != word) {
            asked.push(Word::of(word));
        }
    });
    let set = WordSet::of(&asked);
    let counted: Vec<Counted<'t>> = tools.into_iter().map(|tool| Counted::of(tool, &set, asked.len())).collect();
    let holding =
        |place: usize| counted.iter().filter(|tool| tool.counts.get(place).is_some_and(|count| *count > 0.0)).count();
    let holding: Vec<usize> = (0..asked.len()).map(holding).collect();
    let bm25 = Bm25::new(counted.len(), counted.iter().map(|tool| tool.length).sum(), &holding);
    let score = |tool: &Counted<'_>| {
        bm25.score(tool.counts.iter().copied().enumerate().filter(|(_, count)| *count > 0.0), tool.length)
    };
    let mut scored: Vec<(f64, &str, &'t Tool)> = counted
        .iter()
        .map(|tool| (score(tool), tool.tool.name.as_str(), tool.tool))
        .filter(|(score, ..)| *score > 0.0)
        .collect();
    scored.sort_by(|one, other| best_first((one.0, one.1), (other.0, other.1)));
    scored.into_iter().take(most).map(|(_, _, tool)| tool).collect()
}

/// The failure of a call that names none of the tools that are there for the one who calls: `unknown_action`, with the tool that
/// is called most like it, where one is.
#[must_use]
pub fn unknown_tool<'t>(name: &str, offered: impl IntoIterator<Item = &'t Tool>) -> Failure {
    let failure = Failure::from(CallError::UnknownTool(catalog::shorten(name)));
    match catalog::nearest(name, offered.into_iter().map(|tool| tool.name.as_str())) {
        Some(nearest) => failure.with_hint(format!("did you mean `{nearest}`?")),
        None => failure,
    }
}

impl<'t> Counted<'t> {
    fn of(tool: &'t Tool, set: &WordSet, asked: usize) -> Self {
        let mut counted = Self { tool, counts: vec![0.0; asked], length: 0.0 };
        let title = tool.definition.get("title").and_then(serde_json::Value::as_str).unwrap_or_default();
        counted.add(tool.name.as_str(), NAME, set);
        counted.add(title, TITLE, set);
        counted.add(tool.description(), 1.0, set);
        for argument in tool.arguments() {
            counted.add(argument, ARGUMENT, set);
        }
        counted
    }

    /// Counts the words of one text, each as so many.
    fn add(&mut self, text: &str, weight: f64, set: &WordSet) {
        let languages = Languages::of(text);
        words::each(text, &mut |word, _| {
            self.length += 1.0;
            if let Some(count) = set.place(word, languages).and_then(|place| self.counts.get_mut(place)) {
                *count += weight;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::script;

    fn tool(server: &str, own: &str, description: &str, schema: &serde_json::Value) -> Tool {
        script::tool(server, own, description, schema).unwrap()
    }

    fn fleet() -> Vec<Tool> {
        let none = json!({"type": "object"});
        let day = json!({"type": "object", "properties": {"day": {}, "timezone": {}}});
        vec![
            tool("calendar", "create_event", "Adds an event to the calendar.", &day),
            tool("calendar", "list_events", "Lists the events of a day.", &day),
            tool("files", "read_file", "Reads the whole text of a file from the disk.", &none),
            tool("files", "write_file", "Replaces the text of a file on the disk.", &none),
            tool("mail", "searchMessages", "Looks for letters in the mailbox by words and sender.", &none),
            tool(
                "post",
                "senden",
                "Verschickt einen Brief an die Adressen, die genannt werden, und wartet auf die Bestätigung.",
                &none,
            ),
        ]
    }

    fn first(question: &str) -> Option<String> {
        find(&fleet(), question, 1).first().map(|tool| tool.name.to_string())
    }

    #[test]
    fn a_tool_is_found_by_name_description_and_argument_in_any_form() {
        assert_eq!(first("list events").as_deref(), Some("calendar__list_events"));
        assert_eq!(first("listing an event of some days").as_deref(), Some("calendar__list_events"));
        assert_eq!(first("which messages did the sender write?").as_deref(), Some("mail__searchMessages"));
        assert_eq!(first("reading files").as_deref(), Some("files__read_file"));
        assert_eq!(first("timezones").as_deref().map(|name| name.starts_with("calendar")), Some(true));
        assert_eq!(first("Briefe verschicken").as_deref(), Some("post__senden"));
        assert_eq!(first("files__write_file").as_deref(), Some("files__write_file"));
    }

    #[test]
    fn a_mistyped_name_is_told_the_nearest() {
        let hint = |name: &str| unknown_tool(name, &fleet()).hint.unwrap();
        assert_eq!(hint("calendar__list_event"), "did you mean `calendar__list_events`?");
        assert_eq!(hint("files__readfile"), "did you mean `files__read_file`?");
        assert_eq!(hint("zzz"), "find_tools names those that there are");
    }

    #[test]
    fn what_has_no_word_of_it_is_not_found() {
        assert!(find(&fleet(), "weather", 5).is_empty());
        assert!(find(&fleet(), "", 5).is_empty());
        assert_eq!(find(&fleet(), "file", 1).len(), 1);
        assert_eq!(find(&fleet(), "file", 9).len(), 2);
    }

    #[test]
    fn two_hundred_tools_are_ranked_alike_whatever_their_order() {
        let schema = json!({"type": "object"});
        let mut tools: Vec<Tool> = (0..200)
            .map(|at| tool("many", &format!("tool_{at}"), &format!("Does the thing of number {at}."), &schema))
            .collect();
        tools.push(tool("bank", "pay", "Pays a bill.", &schema));
        let names = |tools: &[Tool]| {
            find(tools, "pay the bill of number 17", 3).iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>()
        };
        let forward = names(&tools);
        assert_eq!(forward[..2], ["bank__pay", "many__tool_17"]);
        tools.reverse();
        assert_eq!(names(&tools), forward);
    }
}
