//! [`Repair`]: everything that is mended, noticed or left aside when text of a model is read, by name.
//!
//! Owns the names and their words. Decides nothing: what may be mended is the reader's business.

use memdir_core::report::Issue;

/// One way in which text of a model was not what the prompt asks for, and was read or skipped all the same.
///
/// Nothing here changes what a call would write: what could is refused, and becomes an
/// [`Unread`](super::Unread). Each kind is reported once in a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Repair {
    /// Bytes that are no UTF-8. Needed where output is cut inside a character, or passed on in another encoding.
    InvalidUtf8,
    /// `<Actions>`, `< actions >`. Small models vary the spelling of a tag.
    TagSpelling,
    /// Calls without any tag. Models tuned for bare JSON forget the tags.
    MissingTags,
    /// A list that ends, and no `</actions>`. It is a stop sequence in some servers, which cut it off.
    MissingCloseTag,
    /// A `<think>` that never ends. The token limit cuts long thoughts.
    UnclosedThink,
    /// A `</think>` that nothing opened. Chat templates put the opening tag into the prompt.
    StrayThink,
    /// A `<result>` or `<mcp:tool_result>` in the turn of a model. Small models repeat what they were given, and notes may hold actions.
    EchoedResult,
    /// A `<reply>` that never ends. It is the last tag, so a stop sequence or the limit cuts its end.
    UnclosedReply,
    /// A tag that opens or ends nothing. Models mention the tags in prose, and close them twice.
    StrayTag,
    /// A Markdown fence around or inside the tag. Models tuned for chat fence all JSON.
    Fence,
    /// Calls in a fence or indented beside others or a reply, in backticks, quotes, comments or a block quote. Models
    /// explain with examples, which are no calls.
    Quoted,
    /// The block before once more. Small models repeat themselves.
    EchoedBlock,
    /// A block without a call. Models that have nothing to do send the tags all the same.
    EmptyBlock,
    /// A list that does not end: the token limit.
    CutOff,
    /// `&lt;actions&gt;`. Programs in between escape what they take for HTML.
    EscapedTags,
    /// A comma before the given bracket. JavaScript and Python allow it, and so do models.
    TrailingComma(char),
    /// No comma between two objects of the list. Models that write one call a line leave it out.
    MissingComma,
    /// `//`, `/* */`, or `#` at the start of a line. Models explain what they do.
    Comment,
    /// Typographic quotes around a text. Models write them in languages that use them, and so do editors.
    SmartQuotes,
    /// Single quotes around a text. Models that write Python.
    SingleQuotes,
    /// A line break or tab as it is in a text. Small models write notes as they should look.
    RawLineBreak,
    /// `\'` in a text. Models that escape for JavaScript or a shell.
    EscapedApostrophe,
    /// `True`, `False`, `None`. Models that write Python.
    PythonLiteral,
    /// `"""` around a text. Models that write Python, for notes of several lines.
    TripleQuotes,
    /// A key without quotes. Models that write JavaScript.
    UnquotedKey,
    /// Objects without a list around them. Models with one call to make.
    LoneObject,
    /// `{"actions": […]}`. Models that were trained on it.
    ActionsObject,
    /// Several lists one after the other. Models that think of one more thing to do.
    SplitList,
    /// Words between the list and `</actions>`. Models that comment on what they did.
    TextAfterList,
    /// `has_explicit_permission` on an action that only reads. Models put it everywhere to be safe.
    IgnoredPermission,
    /// A tool call without an id, or with an empty one. Local servers leave it out.
    MissingId,
    /// A tool call with the id of another. Local servers number the calls of each turn alike.
    RepeatedId,
    /// Several answers to one question. Programs ask for more than one to compare them.
    OtherAnswers,
    /// `key: value` lines where a JSON object belongs. Models that have seen more YAML than JSON.
    KeyValueLines,
    /// Blocks of two dialects in one text. Models that have seen several; only the first kind is read.
    OtherDialect,
    /// A second `<python>`. mem-agent reads one a turn.
    SecondBlock,
    /// A call that failed and whose answer no variable has. Models take a step that says nothing for done.
    UnnoticedFailure,
    /// A line break at the end of what has to be one line. Models that think of a line with its end.
    LineBreakAtEnd,
}

impl Repair {
    /// The stable name, as `issues` shows it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::InvalidUtf8 => "invalid_utf8",
            Self::TagSpelling => "tag_spelling",
            Self::MissingTags => "missing_tags",
            Self::MissingCloseTag => "missing_close_tag",
            Self::UnclosedThink => "unclosed_think",
            Self::StrayThink => "stray_think",
            Self::EchoedResult => "echoed_result",
            Self::UnclosedReply => "unclosed_reply",
            Self::StrayTag => "stray_tag",
            Self::Fence => "fence",
            Self::Quoted => "quoted",
            Self::EchoedBlock => "echoed_block",
            Self::EmptyBlock => "empty_block",
            Self::CutOff => "cut_off",
            Self::EscapedTags => "escaped_tags",
            Self::TrailingComma(_) => "trailing_comma",
            Self::MissingComma => "missing_comma",
            Self::Comment => "comment",
            Self::SmartQuotes => "smart_quotes",
            Self::SingleQuotes => "single_quotes",
            Self::RawLineBreak => "raw_line_break",
            Self::EscapedApostrophe => "escaped_apostrophe",
            Self::PythonLiteral => "python_literal",
            Self::TripleQuotes => "triple_quotes",
            Self::UnquotedKey => "unquoted_key",
            Self::LoneObject => "lone_object",
            Self::ActionsObject => "actions_object",
            Self::SplitList => "split_list",
            Self::TextAfterList => "text_after_list",
            Self::IgnoredPermission => "ignored_permission",
            Self::MissingId => "missing_id",
            Self::RepeatedId => "repeated_id",
            Self::OtherAnswers => "other_answers",
            Self::KeyValueLines => "key_value_lines",
            Self::OtherDialect => "other_dialect",
            Self::SecondBlock => "second_block",
            Self::UnnoticedFailure => "unnoticed_failure",
            Self::LineBreakAtEnd => "line_break_at_end",
        }
    }

    /// What was done, as one lower-case sentence.
    #[must_use]
    pub fn words(self) -> String {
        let words = match self {
            Self::InvalidUtf8 => "bytes that are no UTF-8 were read as `\u{FFFD}`",
            Self::TagSpelling => "a tag in other letters or with blanks was read as if it had none",
            Self::MissingTags => "actions without `<actions>` around them were taken",
            Self::MissingCloseTag => "the missing `</actions>` after a whole list was added",
            Self::UnclosedThink => "`<think>` does not end, so all that follows it was skipped",
            Self::StrayThink => "`</think>` without `<think>`: all that stands before it was skipped",
            Self::EchoedResult => {
                "`<result>` or `<mcp:tool_result>` comes from memdir: it was skipped up to its end, or to that of the text"
            }
            Self::UnclosedReply => "`<reply>` does not end, so it was read to the end of the text",
            Self::StrayTag => "a tag that opens or ends nothing was ignored",
            Self::Fence => "the fence of Markdown around the actions was ignored",
            Self::Quoted => {
                "actions that stand as an example, in a fence, indented, in a comment or quoted, were not run"
            }
            Self::EchoedBlock => "a block that repeats the one right before it was not run again",
            Self::EmptyBlock => "a block holds no action",
            Self::CutOff => "the list of actions does not end",
            Self::EscapedTags => "`&lt;actions&gt;` was not read; write `<actions>` and plain JSON",
            Self::TrailingComma(closer) => return format!("a comma before `{closer}` was ignored"),
            Self::MissingComma => "a missing comma between two actions was added",
            Self::Comment => "a comment was ignored",
            Self::SmartQuotes => "typographic quotes around a text were read as `\"`",
            Self::SingleQuotes => "single quotes around a text were read as `\"`",
            Self::RawLineBreak => "a line break or tab inside a text was kept",
            Self::EscapedApostrophe => "`\\'` was read as `'`",
            Self::PythonLiteral => "`True`, `False` or `None` was read as its JSON value",
            Self::TripleQuotes => "triple quotes around a text were read as `\"`",
            Self::UnquotedKey => "a key without quotes was read as one with them",
            Self::LoneObject => "actions without a list around them were taken",
            Self::ActionsObject => "the object with the key `actions` was read as its list",
            Self::SplitList => "lists one after the other were read as one",
            Self::TextAfterList => "text between the list and `</actions>` was ignored",
            Self::KeyValueLines => "`key: value` lines were read as a JSON object",
            Self::OtherDialect => {
                "blocks in another way of writing calls were left aside; one turn is written in one way"
            }
            Self::SecondBlock => "only the first block of `<python>` was read",
            Self::UnnoticedFailure => "the call failed, and no variable has its answer",
            Self::LineBreakAtEnd => "a line break at the end of a line was left out",
            Self::IgnoredPermission => "`has_explicit_permission` means nothing on an action that only reads",
            Self::MissingId => "the call has no id; the answer has one made of its place, which the call needs too",
            Self::RepeatedId => "the call has the id of another; they are answered in their order",
            Self::OtherAnswers => "only the first of several answers was read",
        };
        words.to_owned()
    }

    pub(super) fn issue(self, index: Option<usize>) -> Issue {
        Issue { code: self.code(), index, message: self.words() }
    }
}

/// Repairs in the order in which they were first made, each kind once.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Repairs(Vec<Repair>);

impl Repairs {
    pub(super) fn add(&mut self, repair: Repair) {
        if !self.has(repair) {
            self.0.push(repair);
        }
    }

    pub(super) fn has(&self, repair: Repair) -> bool {
        self.0.iter().any(|known| known.code() == repair.code())
    }

    pub(super) fn extend(&mut self, others: &Self) {
        for repair in &others.0 {
            self.add(*repair);
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn issues(&self) -> impl Iterator<Item = Issue> + '_ {
        self.0.iter().map(|repair| repair.issue(None))
    }
}
