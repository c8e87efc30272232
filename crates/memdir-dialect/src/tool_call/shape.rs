//! Where the calls of a turn are in a provider's JSON, and what else of the turn matters.
//!
//! Owns the keys of the providers' shapes. What a call asks for is for [`super::read`].

use super::tree::Tree;
use memdir_core::catalog::ACTION;

/// Whose JSON it is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Shape {
    /// OpenAI Chat Completions, and the many servers that speak it.
    #[default]
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini generateContent.
    Gemini,
    /// The one call of a `tools/call` of MCP.
    Mcp,
}

impl Shape {
    /// The key of a call's arguments.
    pub(super) fn arguments(self) -> &'static str {
        match self {
            Self::Chat | Self::Responses | Self::Mcp => "arguments",
            Self::Anthropic => "input",
            Self::Gemini => "args",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Chat => "OpenAI Chat Completions",
            Self::Responses => "OpenAI Responses",
            Self::Anthropic => "Anthropic Messages",
            Self::Gemini => "Gemini",
            Self::Mcp => "MCP",
        }
    }
}

/// A call as it stands in the JSON.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked<'t> {
    pub(crate) id: Option<&'t str>,
    pub(crate) name: Option<&'t str>,
    pub(crate) arguments: Option<&'t Tree>,
    /// What makes it no call that can be read.
    pub(crate) defect: Option<String>,
}

/// A turn of a model.
#[derive(Debug, Default)]
pub(crate) struct Found<'t> {
    pub(crate) shape: Shape,
    pub(crate) calls: Vec<Asked<'t>>,
    /// What it says to the person.
    pub(crate) reply: String,
    /// Why it ended before its time, in the provider's word.
    pub(crate) stopped: Option<&'t str>,
    /// Whether other answers to the same question are left aside.
    pub(crate) has_others: bool,
    /// What makes the turn one that cannot be read.
    pub(crate) broken: Option<Broken>,
    /// Whether what came last was text.
    is_after_text: bool,
}

/// Why a turn cannot be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Broken {
    pub(crate) message: String,
    pub(crate) hint: &'static str,
}

/// The words with which a turn that is whole ends, in small letters.
const WHOLE: &[&str] = &[
    "stop",
    "tool_calls",
    "function_call",
    "end_turn",
    "tool_use",
    "stop_sequence",
    "pause_turn",
    "completed",
    "eos",
    "eos_token",
];

/// Finds the turn in some JSON; `None` where it is no provider's.
pub(crate) fn find(json: &Tree) -> Option<Found<'_>> {
    if let Tree::List(items) = json {
        return bare(items);
    }
    // What names an action is the native dialect's, without its tags.
    if json.has(ACTION) || json.has("actions") {
        return None;
    }
    if json.text_of("role").is_some_and(|role| !matches!(role, "assistant" | "model")) {
        return None;
    }
    let list = |key: &str| json.get(key).and_then(Tree::list);
    let mut found = Found { broken: twice(json), ..Found::default() };
    if let Some(choices) = list("choices") {
        found.first_of(choices, Shape::Chat, "message", "finish_reason");
    } else if let Some(candidates) = list("candidates") {
        found.first_of(candidates, Shape::Gemini, "content", "finishReason");
    } else if let Some(items) = list("output") {
        found.shape = Shape::Responses;
        found.ends(json.text_of("status"));
        found.items(items);
    } else if json.has("tool_calls") || json.has("role") && json.get("content").is_some_and(|it| it.text().is_some()) {
        found.chat_message(json);
    } else if let Some(parts) = list("parts") {
        found.shape = Shape::Gemini;
        found.items(parts);
    } else if let Some(blocks) = list("content") {
        let is_output = |block: &Tree| matches!(block.text_of("type"), Some("output_text" | "refusal"));
        found.shape = if blocks.iter().any(is_output) { Shape::Responses } else { Shape::Anthropic };
        found.ends(json.text_of("stop_reason"));
        found.items(blocks);
    } else {
        return bare(std::slice::from_ref(json));
    }
    Some(found)
}

/// A list of calls and other parts with nothing around it.
fn bare(items: &[Tree]) -> Option<Found<'_>> {
    if items.iter().any(|item| item.has(ACTION)) {
        return None;
    }
    let kinds = || items.iter().filter_map(kind);
    let (shape, _) = kinds().find(|(_, is_call)| *is_call).or_else(|| kinds().next())?;
    let mut found = Found { shape, ..Found::default() };
    found.items(items);
    Some(found)
}

/// Whose part it is, and whether it is a call; `None` for what says neither.
fn kind(part: &Tree) -> Option<(Shape, bool)> {
    match part.text_of("type") {
        Some("tool_use") => Some((Shape::Anthropic, true)),
        Some("function_call" | "custom_tool_call") => Some((Shape::Responses, true)),
        Some("function") if part.has("function") => Some((Shape::Chat, true)),
        Some("custom") if part.has("custom") => Some((Shape::Chat, true)),
        Some("text" | "thinking" | "redacted_thinking") => Some((Shape::Anthropic, false)),
        Some("message" | "reasoning") => Some((Shape::Responses, false)),
        Some(_) => None,
        None if part.get("function").is_some_and(Tree::is_object) => Some((Shape::Chat, true)),
        None if part.has("functionCall") => Some((Shape::Gemini, true)),
        None if part.has("text") && is_part_of_text(part) => Some((Shape::Gemini, false)),
        None => None,
    }
}

/// Whether nothing but what Gemini says of a text is there.
fn is_part_of_text(part: &Tree) -> bool {
    part.keys().all(|key| matches!(key, "text" | "thought" | "thoughtSignature"))
}

impl<'t> Found<'t> {
    /// A turn of one call of MCP.
    pub(super) fn one(call: Asked<'t>) -> Self {
        Self { shape: Shape::Mcp, calls: vec![call], ..Self::default() }
    }

    /// Whether nothing is in it that could be done or said.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.reply.trim().is_empty() && self.broken.is_none()
    }

    /// Reads the first of several answers to the same question.
    fn first_of(&mut self, answers: &'t [Tree], shape: Shape, key: &str, ending: &str) {
        self.shape = shape;
        self.has_others = answers.len() > 1;
        let Some(answer) = answers.first() else { return };
        self.broken = self.broken.take().or_else(|| twice(answer));
        if answer.has("delta") {
            let message = "this is a piece of a stream".to_owned();
            self.broken = Some(Broken { message, hint: "send the whole response, once the stream has ended" });
        }
        self.ends(answer.text_of(ending));
        match (answer.get(key), shape) {
            (Some(message), Shape::Chat) => self.chat_message(message),
            (Some(content), _) => {
                self.broken = self.broken.take().or_else(|| twice(content));
                self.items(content.get("parts").and_then(Tree::list).unwrap_or_default());
            }
            (None, _) => {}
        }
    }

    fn chat_message(&mut self, message: &'t Tree) {
        self.broken = self.broken.take().or_else(|| twice(message));
        match message.get("content") {
            Some(Tree::List(parts)) => parts.iter().for_each(|part| self.part_of_text(part)),
            Some(content) => self.say(content.text().unwrap_or_default()),
            None => {}
        }
        self.say(message.text_of("refusal").unwrap_or_default());
        match message.get("tool_calls") {
            Some(Tree::List(calls)) => self.calls.extend(calls.iter().map(|call| call_of(call, Shape::Chat))),
            Some(calls) if !calls.is_null() => {
                let message = "`tool_calls` has to be a list".to_owned();
                self.broken = Some(Broken { message, hint: "send the response as the provider gave it" });
            }
            _ => {}
        }
    }

    /// Reads parts in their order.
    fn items(&mut self, items: &'t [Tree]) {
        for item in items {
            let is_result = matches!(item.text_of("type"), Some("function_call_output" | "tool_result"));
            if is_result || item.has("functionResponse") {
                let message = "it holds results of calls, so some of its calls were made before".to_owned();
                self.broken = Some(Broken { message, hint: "send only what the model has just answered" });
            }
            if let Some((shape, true)) = kind(item) {
                self.is_after_text = false;
                if shape == Shape::Responses {
                    self.ends(item.text_of("status"));
                }
                let mut call = call_of(item, shape);
                if shape != self.shape {
                    call.defect = Some(format!("a call of {} in a turn of {}", shape.words(), self.shape.words()));
                }
                self.calls.push(call);
            } else if let (Some("message"), Some(parts)) = (item.text_of("type"), item.get("content")) {
                self.is_after_text = false;
                parts.list().unwrap_or_default().iter().for_each(|part| self.part_of_text(part));
            } else {
                self.part_of_text(item);
            }
        }
    }

    /// Takes what a part says to the person: not its thoughts.
    fn part_of_text(&mut self, part: &'t Tree) {
        let is_thought = matches!(part.get("thought"), Some(Tree::Leaf(serde_json::Value::Bool(true))));
        let text = match part.text_of("type") {
            None if !is_thought => part.text_of("text"),
            Some("text" | "output_text") => part.text_of("text"),
            Some("refusal") => part.text_of("refusal"),
            _ => None,
        };
        match text {
            Some(text) => self.say(text),
            None => self.is_after_text = false,
        }
    }

    /// Adds text; what follows text at once goes on with it.
    fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.is_after_text && !self.reply.is_empty() {
            self.reply.push_str("\n\n");
        }
        self.reply.push_str(text);
        self.is_after_text = true;
    }

    /// Notes how the turn ended.
    fn ends(&mut self, word: Option<&'t str>) {
        let is_whole = |word: &str| WHOLE.iter().any(|whole| word.eq_ignore_ascii_case(whole));
        self.stopped = self.stopped.or(word.filter(|word| !is_whole(word)));
    }
}

fn call_of(item: &Tree, shape: Shape) -> Asked<'_> {
    let inner = match shape {
        Shape::Chat => item.get("function"),
        Shape::Gemini => item.get("functionCall"),
        Shape::Responses | Shape::Anthropic | Shape::Mcp => Some(item),
    };
    let full = |text: Option<&'_ str>| text.filter(|text| !text.is_empty()).is_some();
    let id = match shape {
        Shape::Responses if full(item.text_of("call_id")) => item.text_of("call_id"),
        Shape::Gemini => inner.and_then(|inner| inner.text_of("id")),
        Shape::Chat | Shape::Responses | Shape::Anthropic | Shape::Mcp => item.text_of("id"),
    };
    let id = id.filter(|id| !id.is_empty());
    if matches!(item.text_of("type"), Some("custom" | "custom_tool_call")) {
        let defect = Some("a custom tool with free text is none of memdir's".to_owned());
        let name = item.text_of("name").or_else(|| item.get("custom")?.text_of("name"));
        return Asked { id, name, arguments: None, defect };
    }
    let Some(inner) = inner.filter(|inner| inner.is_object()) else {
        return Asked { id, defect: Some("it has no function".to_owned()), ..Asked::default() };
    };
    let doubled = item.doubled().or_else(|| inner.doubled());
    let defect = doubled.map(|key| format!("`{}` is given twice", memdir_core::catalog::shorten(key)));
    let name = inner.text_of("name").filter(|name| !name.is_empty());
    Asked { id, name, arguments: inner.get(shape.arguments()), defect }
}

/// Why an object that has a key twice cannot be read.
fn twice(object: &Tree) -> Option<Broken> {
    let key = object.doubled()?;
    let message = format!("`{}` is given twice", memdir_core::catalog::shorten(key));
    Some(Broken { message, hint: "send the response as the provider gave it" })
}
