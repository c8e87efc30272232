//! However a turn that a model writes is cut into pieces, the same is told of it; what is told stays, and is the beginning of
//! the reply.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memdir_dialect::{Preview, parse};

fuzz_target!(|input: (Vec<u8>, String)| {
    let (sizes, turn) = input;
    let mut whole = Preview::default();
    whole.push(&turn);
    let reply = parse(turn.get(..whole.end().unwrap_or(turn.len())).unwrap().as_bytes()).reply.unwrap_or_default();
    let mut preview = Preview::default();
    let (mut rest, mut sizes) = (turn.as_str(), sizes.into_iter().cycle());
    let (mut thoughts, mut told, mut ended) = (String::new(), String::new(), None);
    while !rest.is_empty() {
        let mut size = usize::from(sizes.next().unwrap_or(u8::MAX)).clamp(1, rest.len());
        while !rest.is_char_boundary(size) {
            size += 1;
        }
        let (piece, more) = rest.split_at(size);
        preview.push(piece);
        rest = more;
        assert!(preview.thoughts().starts_with(&thoughts));
        preview.thoughts().clone_into(&mut thoughts);
        if preview.is_other() {
            continue;
        }
        let now = preview.reply().unwrap_or_default();
        assert!(now.starts_with(&told), "{now:?} after {told:?}");
        assert!(reply.starts_with(now.trim()), "{now:?} of {reply:?}");
        now.clone_into(&mut told);
        assert!(ended.is_none() || ended == preview.end());
        ended = preview.end();
    }
    assert_eq!((preview.thoughts(), preview.reply()), (whole.thoughts(), whole.reply()));
    assert_eq!((preview.end(), preview.is_other()), (whole.end(), whole.is_other()));
});
