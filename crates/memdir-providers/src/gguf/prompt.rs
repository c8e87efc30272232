//! A request as the tokens that a model reads.
//!
//! The marks between messages come from the model's own template. It is filled with names that stand for the texts, and cut
//! at them: the marks are read as marks, and the texts never are, so no text can end a message or begin another.

use llama_cpp_2::model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel};
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token_type::LlamaTokenAttr;
use llama_cpp_2::vocab::LlamaVocab;

use memdir_model::{Request, Role};

/// A request that can be read.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Prompt {
    pub(super) tokens: Vec<LlamaToken>,
    /// How many of them, from the first, are of the system text and of the messages that stay.
    pub(super) stable: usize,
}

/// A piece of a filled template.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Part {
    /// What the template says.
    Marks(String),
    /// The text of that number.
    Text(usize),
}

/// What stands for a text while the template is filled.
const OPENS: &str = "@@memdir:";
const CLOSES: &str = ":ridmem@@";

/// The tokens of a request, with `template` or, without one, in a plain form.
pub(super) fn tokens(model: &LlamaModel, template: Option<&LlamaChatTemplate>, request: &Request) -> Prompt {
    let roles: Vec<Role> = request.messages.iter().map(|message| message.role).collect();
    let render = |messages: &[(&str, String)]| {
        let messages = messages.iter().map(|(role, text)| LlamaChatMessage::new((*role).to_owned(), text.clone()).ok());
        model.apply_chat_template(template?, &messages.collect::<Option<Vec<_>>>()?, true).ok()
    };
    let parts = parts(!request.system.is_empty(), &roles, render);
    let texts: Vec<&str> = std::iter::once(&request.system)
        .chain(request.messages.iter().map(|message| &message.text))
        .map(String::as_str)
        .collect();
    encode(&model.vocab(), &parts, &texts, request.stable)
}

/// The pieces of a conversation: the text 0 is the system's, the others are those of the messages. `render` fills the
/// template, and is nothing where there is none or it does not know how.
pub(super) fn parts(
    has_system: bool,
    roles: &[Role],
    render: impl Fn(&[(&str, String)]) -> Option<String>,
) -> Vec<Part> {
    let named: Vec<(&str, String)> = roles
        .iter()
        .enumerate()
        .map(|(at, role)| (if *role == Role::User { "user" } else { "assistant" }, holder(at + 1)))
        .collect();
    let texts = roles.len() + usize::from(has_system);
    let whole = |messages: &[(&str, String)]| {
        let parts = cut(&render(messages)?);
        let found = parts.iter().filter(|part| matches!(part, Part::Text(_))).count();
        (found == texts).then_some(parts)
    };
    if !has_system {
        return whole(&named).unwrap_or_else(|| plain(false, roles));
    }
    let mut with_system = vec![("system", holder(0))];
    with_system.extend(named.iter().cloned());
    // A template that knows no system text gets it in front of the first message.
    let inside = || {
        let mut named = named.clone();
        let (_, first) = named.first_mut()?;
        *first = format!("{}\n\n{first}", holder(0));
        whole(&named)
    };
    whole(&with_system).or_else(inside).unwrap_or_else(|| plain(true, roles))
}

fn holder(text: usize) -> String {
    format!("{OPENS}{text}{CLOSES}")
}

/// Cuts a filled template at the names that stand for texts.
fn cut(filled: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = filled;
    while let Some((marks, after)) = rest.split_once(OPENS) {
        let named = after.split_once(CLOSES).and_then(|(text, after)| Some((text.parse().ok()?, after)));
        let Some((text, after)) = named else { break };
        if !marks.is_empty() {
            parts.push(Part::Marks(marks.to_owned()));
        }
        parts.push(Part::Text(text));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Marks(rest.to_owned()));
    }
    parts
}

/// A conversation for a model that was not made for conversations.
fn plain(has_system: bool, roles: &[Role]) -> Vec<Part> {
    let mut parts = Vec::new();
    if has_system {
        parts.extend([Part::Text(0), Part::Marks("\n\n".to_owned())]);
    }
    for (at, role) in roles.iter().enumerate() {
        let who = if *role == Role::User { "User: " } else { "Assistant: " };
        parts.extend([Part::Marks(who.to_owned()), Part::Text(at + 1), Part::Marks("\n\n".to_owned())]);
    }
    parts.push(Part::Marks("Assistant: ".to_owned()));
    parts
}

fn encode(vocab: &LlamaVocab<'_>, parts: &[Part], texts: &[&str], stable_messages: usize) -> Prompt {
    let mut tokens = Vec::new();
    let mut stable = 0;
    let begin = vocab.bos();
    if vocab.should_add_bos() && begin.0 >= 0 {
        tokens.push(begin);
    }
    for part in parts {
        match part {
            Part::Marks(marks) => {
                let read = vocab.tokenize(marks.as_bytes(), false, true);
                // Some templates begin with what the vocabulary adds too.
                let is_twice = tokens.len() == 1 && tokens.first() == read.first() && read.first() == Some(&begin);
                tokens.extend(read.into_iter().skip(usize::from(is_twice)));
            }
            Part::Text(text) => {
                literal(vocab, texts.get(*text).copied().unwrap_or_default(), &mut tokens);
                if *text <= stable_messages {
                    stable = tokens.len();
                }
            }
        }
    }
    Prompt { tokens, stable }
}

/// Adds the tokens of a text none of which is a mark. A vocabulary may take a mark for a word all the same; that one is then read
/// from its first character and its rest.
fn literal(vocab: &LlamaVocab<'_>, text: &str, tokens: &mut Vec<LlamaToken>) {
    for token in vocab.tokenize(text.as_bytes(), false, false) {
        if is_word(vocab, token) {
            tokens.push(token);
            continue;
        }
        let bytes = vocab.token_to_piece(token, true, None);
        let name = String::from_utf8_lossy(&bytes);
        let mut rest = name.chars();
        let first: String = rest.next().into_iter().collect();
        for half in [first.as_str(), rest.as_str()] {
            let words = vocab.tokenize(half.as_bytes(), false, false);
            tokens.extend(words.into_iter().filter(|token| is_word(vocab, *token)));
        }
    }
}

fn is_word(vocab: &LlamaVocab<'_>, token: LlamaToken) -> bool {
    if vocab.is_eog(token) || vocab.is_control(token) {
        return false;
    }
    if !vocab.attr(token).contains(LlamaTokenAttr::UserDefined) {
        return true;
    }
    // Blanks and line ends are such tokens too, in some vocabularies.
    let bytes = vocab.token_to_piece(token, true, None);
    let is_mark =
        bytes.len() > 2 && matches!(bytes.first(), Some(b'<' | b'[')) && matches!(bytes.last(), Some(b'>' | b']'));
    !is_mark
}
