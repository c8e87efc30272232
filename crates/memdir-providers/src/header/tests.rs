use super::{Facts, HeaderError, MOST_BYTES, read};

/// A model file as a test needs it: keys, and tensors with their bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gguf {
    keys: Vec<Vec<u8>>,
    tensors: Vec<Vec<u8>>,
    weights: Vec<u8>,
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

impl Gguf {
    /// A small whole one.
    pub(crate) fn small() -> Self {
        Self::default()
            .says("general.architecture", "qwen2")
            .says("general.name", "Tiny")
            .says("general.license", "apache-2.0")
            .counts("general.file_type", 15)
            .counts("qwen2.context_length", 4_096)
            .says("tokenizer.chat_template", &"{{ messages }}".repeat(100))
            .lists("tokenizer.ggml.tokens", &["a", "b", "c"])
            .tensor("blk.0", &[256, 4_000], 12)
    }

    pub(crate) fn key(mut self, name: &str, kind: u32, value: &[u8]) -> Self {
        self.keys.push([&text(name)[..], &kind.to_le_bytes(), value].concat());
        self
    }

    pub(crate) fn says(self, name: &str, value: &str) -> Self {
        self.key(name, 8, &text(value))
    }

    pub(crate) fn counts(self, name: &str, value: u32) -> Self {
        self.key(name, 4, &value.to_le_bytes())
    }

    fn lists(self, name: &str, values: &[&str]) -> Self {
        let values: Vec<u8> = values.iter().flat_map(|value| text(value)).collect();
        let head = [&8_u32.to_le_bytes()[..], &3_u64.to_le_bytes()].concat();
        self.key(name, 9, &[head, values].concat())
    }

    fn tensor(mut self, name: &str, sizes: &[u64], kind: u32) -> Self {
        let dimensions = u32::try_from(sizes.len()).unwrap().to_le_bytes();
        let sizes_bytes: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
        let offset = (self.weights.len() as u64).to_le_bytes();
        self.tensors.push([&text(name)[..], &dimensions, &sizes_bytes, &kind.to_le_bytes(), &offset].concat());
        let bytes = sizes.iter().product::<u64>().div_ceil(256) * 144;
        self.weights.resize(self.weights.len() + usize::try_from(bytes).unwrap(), 7);
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let counts = [(self.tensors.len() as u64).to_le_bytes(), (self.keys.len() as u64).to_le_bytes()].concat();
        let mut bytes =
            [b"GGUF", &3_u32.to_le_bytes()[..], &counts, &self.keys.concat(), &self.tensors.concat()].concat();
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        bytes.extend(&self.weights);
        bytes
    }
}

#[track_caller]
fn check(bytes: &[u8], expected: Result<Facts, HeaderError>) {
    assert_eq!(read(bytes, bytes.len() as u64), expected);
}

#[test]
fn a_file_says_what_it_is() {
    let facts = Facts {
        title: Some("Tiny".into()),
        architecture: Some("qwen2".into()),
        licence: Some("apache-2.0".into()),
        quantization: Some("Q4_K_M"),
        million_parameters: 1,
        context_tokens: Some(4_096),
        has_chat_template: true,
        splits: 0,
    };
    check(&Gguf::small().bytes(), Ok(facts.clone()));
    let split = Gguf::small().key("split.count", 2, &3_u16.to_le_bytes());
    check(&split.bytes(), Ok(Facts { splits: 3, ..facts }));
}

#[test]
fn what_is_no_model() {
    check(b"", Err(HeaderError::NotGguf));
    check(b"GGU", Err(HeaderError::NotGguf));
    check(b"<!DOCTYPE html>", Err(HeaderError::NotGguf));
    let mut bytes = Gguf::small().bytes();
    bytes[4] = 9;
    check(&bytes, Err(HeaderError::Version(9)));
    bytes[4..8].copy_from_slice(&3_u32.to_be_bytes());
    check(&bytes, Err(HeaderError::Broken("the order of its bytes")));
}

#[test]
fn every_cut_is_seen() {
    let bytes = Gguf::small().bytes();
    for end in (4..1_000).chain([bytes.len() - 1]) {
        let wanted = read(&bytes[..end], end as u64).unwrap_err();
        assert!(matches!(wanted, HeaderError::Cut { .. }), "{end}: {wanted:?}");
        // A file that got shorter since its size was asked for.
        assert!(read(&bytes[..end.min(900)], bytes.len() as u64).is_err(), "{end}");
    }
}

#[test]
fn counts_that_cannot_be_are_not_believed() {
    let head = |tensors: u64, keys: u64| {
        [b"GGUF", &3_u32.to_le_bytes()[..], &tensors.to_le_bytes(), &keys.to_le_bytes()].concat()
    };
    check(&head(u64::MAX, 0), Err(HeaderError::Broken("more entries than a model has")));
    check(&head(0, 1 << 17), Err(HeaderError::Broken("more entries than a model has")));
    // A key whose name has no end.
    let long = [head(0, 1), u64::MAX.to_le_bytes().to_vec()].concat();
    check(&long, Err(HeaderError::Cut { bytes: 32, wanted: u64::MAX }));
    let claimed = read(&long[..], u64::MAX).unwrap_err();
    assert_eq!(claimed, HeaderError::Broken("it is larger than that of any model"));
    for (kind, length, expected) in [
        (4_u32, u64::MAX, "the length of a list"),
        (12, MOST_BYTES, "it is larger than that of any model"),
        (9, 1, "a value of no known kind"),
        (77, 1, "a value of no known kind"),
    ] {
        let list = [&kind.to_le_bytes()[..], &length.to_le_bytes()].concat();
        let bytes = Gguf::default().key("x", 9, &list).bytes();
        assert_eq!(read(&bytes[..], u64::MAX), Err(HeaderError::Broken(expected)), "{kind}");
    }
    let huge = Gguf::default().tensor("x", &[1], 0);
    let mut bytes = huge.bytes();
    let at = bytes.windows(8).rposition(|window| window == 1_u64.to_le_bytes()).unwrap();
    bytes[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(read(&bytes[..], bytes.len() as u64), Err(HeaderError::Cut { .. })));
}

#[test]
fn any_changed_byte_is_read_or_refused() {
    let bytes = Gguf::small().bytes();
    for at in 0..600 {
        for value in [0, 0x7f, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            // No more is asked than that it ends.
            let _ = read(&changed[..], changed.len() as u64);
        }
    }
}
