//! `store_conversation`: the conversation as the entry that a model asks to keep.

use super::session::Session;
use memdir_core::action::{Action, Operation};
use memdir_dialect::{Entry, Parsed};

/// Puts the conversation into the calls that are to keep it, with the message that is being answered.
pub(super) fn fill(parsed: &mut Parsed, before: &Session, message: &str) {
    for entry in &mut parsed.entries {
        let Entry::Call(call) = entry else { continue };
        if let Action::Memory(memory) = &mut call.action
            && memory.operation == Operation::StoreConversation
        {
            memory.operation = Operation::Store;
            memory.content = Some(told(before, message));
        }
    }
}

/// A conversation as text: who said what, the oldest first.
fn told(before: &Session, message: &str) -> String {
    let exchanges = before.exchanges.iter().map(|exchange| (exchange.message.as_str(), exchange.reply.as_deref()));
    let mut told = String::new();
    for (message, reply) in exchanges.chain([(message, None)]) {
        told.push_str(&format!("You: {}\n", message.trim()));
        if let Some(reply) = reply {
            told.push_str(&format!("Assistant: {}\n", reply.trim()));
        }
    }
    told
}
