//! Turns in the words of each wire, with what servers say around them.

use serde_json::{Value, json};

use super::{End, Turn};
use crate::support::standin::{Answered, chunk, usage};

/// Chat Completions of OpenAI.
pub(super) fn openai(turn: &Turn<'_>) -> Answered {
    let mut data = vec![chunk(&json!({"role": "assistant", "content": "", "refusal": null}), None)];
    if !turn.thought.is_empty() {
        data.push(chunk(&json!({"reasoning_content": turn.thought}), None));
    }
    data.extend(turn.pieces.iter().map(|piece| chunk(&json!({"content": piece}), None)));
    if turn.call {
        let function = json!({"name": "delete_everything", "arguments": "{}"});
        let call = json!({"index": 0, "id": "c1", "type": "function", "function": function});
        data.push(chunk(&json!({"tool_calls": [call]}), None));
    }
    let end = match turn.end {
        End::Stop => "stop",
        End::Length => "length",
        End::Filter => "content_filter",
        End::Tool => "tool_calls",
    };
    data.extend([chunk(&json!({}), Some(end)), usage(21, 7), "[DONE]".to_owned()]);
    let comment = ": is being worked on".to_owned();
    Answered::events([comment].into_iter().chain(data.into_iter().map(|data| format!("data: {data}"))))
}

/// Messages of Anthropic.
pub(super) fn anthropic(turn: &Turn<'_>) -> Answered {
    let usage = json!({"input_tokens": 21, "output_tokens": 1});
    let mut events = vec![json!({"type": "message_start", "message": {"role": "assistant", "usage": usage}})];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "ping"}));
        let deltas =
            deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.extend(deltas);
        events.push(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    };
    if !turn.thought.is_empty() {
        let thought = json!({"type": "thinking_delta", "thinking": turn.thought});
        let signature = json!({"type": "signature_delta", "signature": "c2ln"});
        block(json!({"type": "thinking", "thinking": "", "signature": ""}), vec![thought, signature]);
    }
    let texts = turn.pieces.iter().map(|piece| json!({"type": "text_delta", "text": piece})).collect();
    block(json!({"type": "text", "text": ""}), texts);
    if turn.call {
        let input = json!({"type": "input_json_delta", "partial_json": "{}"});
        block(json!({"type": "tool_use", "id": "c1", "name": "delete_everything", "input": {}}), vec![input]);
    }
    let end = match turn.end {
        End::Stop => "end_turn",
        End::Length => "max_tokens",
        End::Filter => "refusal",
        End::Tool => "tool_use",
    };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": end}, "usage": {"output_tokens": 7}}));
    events.push(json!({"type": "message_stop"}));
    Answered::events(events.iter().map(|event| format!("event: {}\ndata: {event}", event["type"].as_str().unwrap())))
}

/// `streamGenerateContent` of Gemini.
pub(super) fn gemini(turn: &Turn<'_>) -> Answered {
    let mut parts = Vec::new();
    if !turn.thought.is_empty() {
        parts.push(json!({"text": turn.thought, "thought": true}));
    }
    parts.extend(turn.pieces.iter().map(|piece| json!({"text": piece})));
    if turn.call {
        parts.push(json!({"functionCall": {"name": "delete_everything", "args": {}}}));
    }
    let end = match turn.end {
        End::Stop => "STOP",
        End::Length => "MAX_TOKENS",
        End::Filter => "SAFETY",
        End::Tool => "STOP",
    };
    let usage = json!({"promptTokenCount": 21, "candidatesTokenCount": 7, "totalTokenCount": 28});
    let events = parts.iter().map(|part| {
        json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}], "usageMetadata": usage})
    });
    let last =
        json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": end}], "usageMetadata": usage});
    // Its lines end otherwise than those of the others.
    let answer = Answered::new(200).header("Content-Type", "text/event-stream");
    events.chain([last]).fold(answer, |answer, event| answer.piece(format!("data: {event}\r\n\r\n")))
}
