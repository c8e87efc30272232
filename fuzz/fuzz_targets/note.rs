//! Any text is a note: its places are inside it, a link written anew says the same, a fact that is set is there.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memdir_note::fact::key;
use memdir_note::{Note, Seen};

fuzz_target!(|text: &str| {
    let note = Note::parse(text);
    let links = note.links();
    for link in &links {
        assert!(link.span.start <= link.target.start && link.target.end <= link.span.end);
        assert!(text.get(link.span.clone()).is_some() && text.get(link.target.clone()).is_some());
    }
    assert!(links.windows(2).all(|pair| pair[0].span.start <= pair[1].span.start));
    let mut end = 0;
    for (at, heading) in note.headings().iter().enumerate() {
        assert!(end <= heading.span.start && heading.span.start < heading.span.end);
        assert!(text.get(note.section(at)).is_some() && text.get(note.own_text(at)).is_some());
        end = heading.span.end;
    }
    for fact in note.facts() {
        assert!(text.get(fact.span.clone()).is_some());
        assert!(note.heading_above(fact.line).is_none_or(|above| note.headings().contains(above)));
    }
    let _ = (note.block("a"), note.front_values("tags"), Seen::of_note(&note));
    // A link whose path is written anew, as it reads, reads the same.
    for (at, link) in links.iter().enumerate().take(8) {
        let Some(written) = link.style.encode(&link.path).filter(|_| !link.path.is_empty()) else { continue };
        let mut again = text.to_owned();
        again.replace_range(link.target.clone(), &written);
        let found = Note::parse(&again).links();
        assert_eq!(found.get(at).map(|link| &link.path), Some(&link.path), "{again:?}");
    }
    if let Ok(edit) = note.set_fact("some key", "a value") {
        let after = edit.apply(text);
        let after = Note::parse(&after);
        assert!(after.facts().iter().any(|fact| key(&fact.key).replace(' ', "") == "somekey" && fact.value == "a value"));
    }
});
