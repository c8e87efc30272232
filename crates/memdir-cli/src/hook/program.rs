//! The programs that run hooks: what each calls its events, what it sends, and the form in which it reads an answer.
//!
//! | program | read in |
//! | --- | --- |
//! | Claude Code | the types of `@anthropic-ai/claude-agent-sdk` 0.3.330 (`sdk.d.ts`) |
//! | Codex | the schemas `*.command.input` and `*.command.output` in `@openai/codex` 0.169.0 |
//! | Cursor | Cursor's documentation of hooks, and what others found in the client 3.20.17 |
//! | Copilot CLI | GitHub's documentation, "GitHub Copilot hooks reference" |

use std::path::PathBuf;

use clap::ValueEnum;
use memdir_core::json::without_halves;
use serde_json::{Value, json};

/// A program that runs hooks.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Program {
    ClaudeCode,
    Codex,
    Cursor,
    Copilot,
}

/// When a hook is run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Moment {
    /// A session begins.
    Start,
    /// The person has sent a message.
    Prompt,
    /// The conversation is about to be cut, or is over for now.
    Keep,
}

/// What a program says when it runs a hook.
#[derive(Debug)]
pub(super) struct Input {
    /// The conversation.
    pub(super) session: Option<String>,
    /// The file in which the program keeps it.
    pub(super) transcript: Option<PathBuf>,
    /// The message.
    pub(super) prompt: Option<String>,
    /// Whether nobody but the program itself sent the message.
    is_machine: bool,
    /// Whether it is Cursor that runs the hook.
    is_cursor: bool,
}

impl Program {
    /// Its name on the command line, under which it is known as a client where no other is given.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Copilot => "copilot",
        }
    }

    /// Its name as its maker writes it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::Copilot => "Copilot CLI",
        }
    }

    /// The names of its events.
    pub(super) fn events(self) -> &'static [(&'static str, Moment)] {
        match self {
            Self::ClaudeCode | Self::Codex => &[
                ("SessionStart", Moment::Start),
                ("UserPromptSubmit", Moment::Prompt),
                ("PreCompact", Moment::Keep),
                ("SessionEnd", Moment::Keep),
            ],
            Self::Cursor => &[
                ("sessionStart", Moment::Start),
                ("beforeSubmitPrompt", Moment::Prompt),
                ("preCompact", Moment::Keep),
                ("sessionEnd", Moment::Keep),
            ],
            // Its `sessionEnd` does not say where the conversation is kept.
            Self::Copilot => &[
                ("sessionStart", Moment::Start),
                ("userPromptSubmitted", Moment::Prompt),
                ("preCompact", Moment::Keep),
                ("agentStop", Moment::Keep),
            ],
        }
    }

    /// The event of this name.
    pub(super) fn event(self, name: &str) -> Option<(&'static str, Moment)> {
        self.events().iter().copied().find(|(known, _)| *known == name)
    }

    /// Whether a hook of this program has anything to say to what it was sent. Cursor also runs the hooks of Claude Code, which
    /// would say everything twice, and to another client; and a message that a program sent itself asks nothing of the person's.
    pub(super) fn answers(self, input: &Input) -> bool {
        (self == Self::Cursor || !input.is_cursor) && !input.is_machine
    }

    /// `context` in the form in which the program takes it at this event.
    pub(super) fn answer(self, event: &str, context: &str) -> Value {
        match self {
            Self::ClaudeCode | Self::Codex => {
                json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}})
            }
            Self::Cursor if event == "beforeSubmitPrompt" => json!({"continue": true, "additional_context": context}),
            Self::Cursor => json!({"additional_context": context}),
            Self::Copilot => json!({"additionalContext": context}),
        }
    }
}

impl Input {
    /// Reads what a program sent; `None` for what is no JSON object.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let sent = String::from_utf8_lossy(bytes);
        let sent: Value = serde_json::from_slice(&without_halves(sent.as_bytes())).ok()?;
        let sent = sent.as_object()?;
        let text = |names: &[&str]| {
            let found = names.iter().find_map(|name| sent.get(*name)?.as_str());
            found.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        // Claude Code says who wrote a message; `user` and `sdk` are persons and programs of theirs.
        let is_machine = text(&["prompt"]).is_some()
            && text(&["source"]).is_some_and(|source| !matches!(source.as_str(), "user" | "sdk"));
        Some(Self {
            session: text(&["session_id", "sessionId", "conversation_id"]),
            transcript: text(&["transcript_path", "transcriptPath"]).map(PathBuf::from),
            prompt: text(&["prompt"]),
            is_machine,
            is_cursor: sent.contains_key("cursor_version"),
        })
    }
}
