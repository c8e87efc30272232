//! What the first bytes of a GGUF file say of the model in it.
//!
//! Reads what it is given, once and from its start, and keeps only what is small. A file from anywhere can say anything: every count
//! is bounded before it is believed, nothing is allocated by it, and the work is linear in the bytes that are there.

use std::io::{ErrorKind, Read};

use serde::Serialize;

/// The most bytes that stand before the weights. Large vocabularies take some ten million.
const MOST_BYTES: u64 = 64 << 20;
/// The most keys and the most tensors.
const MOST_ENTRIES: u64 = 1 << 16;
/// The longest name of a key or tensor.
const LONGEST_NAME: u64 = 1 << 10;
/// The longest text that is kept; a longer one counts as not said.
const LONGEST_TEXT: u64 = 1 << 8;
/// How the weights are aligned where the file does not say it.
const ALIGNMENT: u64 = 32;

/// What a model file says of itself. None of it is checked against the weights.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Facts {
    /// What its maker calls it.
    pub title: Option<String>,
    /// The kind of model, such as `qwen2`.
    pub architecture: Option<String>,
    /// The licence.
    pub licence: Option<String>,
    /// How its weights are kept, such as `Q4_K_M`.
    pub quantization: Option<&'static str>,
    /// How many parameters its tensors have, in units of a million.
    pub million_parameters: u64,
    /// How many tokens it can take at once.
    pub context_tokens: Option<u64>,
    /// Whether it says how a conversation is written; a model without was not taught to hold one.
    pub has_chat_template: bool,
    /// How many files it is split into by llama.cpp; 0 or 1 for one.
    #[serde(skip)]
    pub splits: u64,
}

/// Why a file is no model that can be kept.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum HeaderError {
    /// It does not begin as a GGUF file does.
    #[error("it is no GGUF file")]
    NotGguf,
    /// It has a version of the format that is not known.
    #[error("it has version {0} of GGUF, and 2 and 3 are known")]
    Version(u32),
    /// It ends too early.
    #[error("it is cut off: it has {bytes} bytes, and what it lists takes {wanted}")]
    Cut {
        /// How many bytes there are.
        bytes: u64,
        /// How many there would be at least.
        wanted: u64,
    },
    /// Something in it is larger than in any real file, or cannot be.
    #[error("its head is broken: {0}")]
    Broken(&'static str),
    /// It could not be read.
    #[error("it cannot be read: {0}")]
    Unreadable(ErrorKind),
}

/// Reads the head of a file with `bytes` bytes.
///
/// # Errors
///
/// [`HeaderError`]; [`HeaderError::Cut`] also where the head is whole and the weights are not, as far as their kinds are known.
pub fn read(from: impl Read, bytes: u64) -> Result<Facts, HeaderError> {
    let mut head = Head { from, bytes, read: 0 };
    if head.array::<4>().map_err(|error| match error {
        HeaderError::Cut { .. } => HeaderError::NotGguf,
        other => other,
    })? != *b"GGUF"
    {
        return Err(HeaderError::NotGguf);
    }
    match head.u32()? {
        2 | 3 => {}
        // Written on a machine with the other order of bytes.
        version if matches!(version.swap_bytes(), 2 | 3) => return Err(HeaderError::Broken("the order of its bytes")),
        version => return Err(HeaderError::Version(version)),
    }
    let (tensors, keys) = (head.u64()?, head.u64()?);
    if tensors > MOST_ENTRIES || keys > MOST_ENTRIES {
        return Err(HeaderError::Broken("more entries than a model has"));
    }
    let mut said = Said::default();
    for _ in 0..keys {
        head.key(&mut said)?;
    }
    let weights = head.tensors(tensors)?;
    let alignment = said.alignment.unwrap_or(ALIGNMENT);
    if !alignment.is_power_of_two() || alignment > 1 << 20 {
        return Err(HeaderError::Broken("its alignment"));
    }
    let wanted = head.read.next_multiple_of(alignment).saturating_add(weights.ends);
    if wanted > bytes {
        return Err(HeaderError::Cut { bytes, wanted });
    }
    Ok(Facts { million_parameters: weights.parameters.saturating_add(500_000) / 1_000_000, ..said.facts })
}

/// What was read of the keys.
#[derive(Debug, Default)]
struct Said {
    facts: Facts,
    alignment: Option<u64>,
}

/// What was read of the list of tensors.
#[derive(Debug, Default)]
struct Weights {
    parameters: u64,
    /// Where the last of them ends, counted from where they begin.
    ends: u64,
}

/// A value of a key, as far as it is kept.
#[derive(Debug)]
enum Value {
    Number(u64),
    Text(Option<String>),
    Other,
}

struct Head<R> {
    from: R,
    bytes: u64,
    read: u64,
}

impl<R: Read> Head<R> {
    fn count(&mut self, more: u64) -> Result<(), HeaderError> {
        let wanted = self.read.saturating_add(more);
        if wanted > self.bytes {
            return Err(HeaderError::Cut { bytes: self.bytes, wanted });
        }
        if wanted > MOST_BYTES {
            return Err(HeaderError::Broken("it is larger than that of any model"));
        }
        self.read = wanted;
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], HeaderError> {
        self.count(N as u64)?;
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes).map_err(|error| self.unread(&error))?;
        Ok(bytes)
    }

    fn skip(&mut self, bytes: u64) -> Result<(), HeaderError> {
        self.count(bytes)?;
        let skipped = std::io::copy(&mut self.from.by_ref().take(bytes), &mut std::io::sink());
        let skipped = skipped.map_err(|error| HeaderError::Unreadable(error.kind()))?;
        if skipped == bytes { Ok(()) } else { Err(HeaderError::Cut { bytes: self.bytes, wanted: self.read }) }
    }

    fn unread(&self, error: &std::io::Error) -> HeaderError {
        match error.kind() {
            ErrorKind::UnexpectedEof => HeaderError::Cut { bytes: self.bytes, wanted: self.read },
            kind => HeaderError::Unreadable(kind),
        }
    }

    fn u32(&mut self) -> Result<u32, HeaderError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, HeaderError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Reads a text of at most `most` bytes; `None` for a longer one, which is passed over.
    fn text(&mut self, most: u64) -> Result<Option<String>, HeaderError> {
        let length = self.u64()?;
        if length > most {
            self.skip(length)?;
            return Ok(None);
        }
        self.count(length)?;
        let mut bytes = Vec::new();
        let read = self.from.by_ref().take(length).read_to_end(&mut bytes);
        read.map_err(|error| HeaderError::Unreadable(error.kind()))?;
        if bytes.len() as u64 != length {
            return Err(HeaderError::Cut { bytes: self.bytes, wanted: self.read });
        }
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn key(&mut self, said: &mut Said) -> Result<(), HeaderError> {
        let name = self.text(LONGEST_NAME)?.ok_or(HeaderError::Broken("the name of a key is too long"))?;
        let kind = self.u32()?;
        let value = self.value(kind)?;
        let facts = &mut said.facts;
        match (name.as_str(), value) {
            ("general.architecture", Value::Text(text)) => facts.architecture = text,
            ("general.name", Value::Text(text)) => facts.title = text,
            ("general.license", Value::Text(text)) => facts.licence = text,
            ("general.file_type", Value::Number(number)) => facts.quantization = quantization(number),
            ("general.alignment", Value::Number(number)) => said.alignment = Some(number),
            ("tokenizer.chat_template", Value::Text(_)) => facts.has_chat_template = true,
            ("split.count", Value::Number(number)) => facts.splits = number,
            (name, Value::Number(number)) if name.ends_with(".context_length") => facts.context_tokens = Some(number),
            _ => {}
        }
        Ok(())
    }

    fn value(&mut self, kind: u32) -> Result<Value, HeaderError> {
        if kind == TEXT {
            return Ok(Value::Text(self.text(LONGEST_TEXT)?));
        }
        if kind == LIST {
            self.list()?;
            return Ok(Value::Other);
        }
        match kind {
            0 => Ok(Value::Number(u64::from(u8::from_le_bytes(self.array()?)))),
            2 => Ok(Value::Number(u64::from(u16::from_le_bytes(self.array()?)))),
            4 => Ok(Value::Number(u64::from(self.u32()?))),
            10 => Ok(Value::Number(self.u64()?)),
            kind => {
                self.skip(size(kind)?)?;
                Ok(Value::Other)
            }
        }
    }

    /// Passes over a list. One of lists is refused: nobody writes them.
    fn list(&mut self) -> Result<(), HeaderError> {
        let (kind, length) = (self.u32()?, self.u64()?);
        if kind != TEXT {
            let bytes = size(kind)?.checked_mul(length).ok_or(HeaderError::Broken("the length of a list"))?;
            return self.skip(bytes);
        }
        // Each takes the eight bytes of its length at least, so the bytes that are there bound this.
        for _ in 0..length {
            let bytes = self.u64()?;
            self.skip(bytes)?;
        }
        Ok(())
    }

    fn tensors(&mut self, count: u64) -> Result<Weights, HeaderError> {
        let mut weights = Weights::default();
        for _ in 0..count {
            self.text(LONGEST_NAME)?.ok_or(HeaderError::Broken("the name of a tensor is too long"))?;
            let dimensions = self.u32()?;
            if dimensions > 4 {
                return Err(HeaderError::Broken("a tensor has more than four dimensions"));
            }
            let mut elements = 1_u64;
            for _ in 0..dimensions {
                let length = self.u64()?;
                elements = elements.checked_mul(length).ok_or(HeaderError::Broken("the size of a tensor"))?;
            }
            let (kind, offset) = (self.u32()?, self.u64()?);
            weights.parameters = weights.parameters.saturating_add(elements);
            let ends = offset.checked_add(tensor_bytes(kind, elements));
            weights.ends = weights.ends.max(ends.ok_or(HeaderError::Broken("the place of a tensor"))?);
        }
        Ok(weights)
    }
}

const TEXT: u32 = 8;
const LIST: u32 = 9;

/// How many bytes a value has, by the number of its kind.
fn size(kind: u32) -> Result<u64, HeaderError> {
    match kind {
        0 | 1 | 7 => Ok(1),
        2 | 3 => Ok(2),
        4..=6 => Ok(4),
        10..=12 => Ok(8),
        _ => Err(HeaderError::Broken("a value of no known kind")),
    }
}

/// How many bytes a tensor takes: so many for each block of so many numbers. Nothing for a kind that is not known here.
fn tensor_bytes(kind: u32, elements: u64) -> u64 {
    let (block, bytes) = match kind {
        0 => (1, 4),
        1 | 30 => (1, 2),
        2 => (32, 18),
        3 => (32, 20),
        6 => (32, 22),
        7 => (32, 24),
        8 => (32, 34),
        10 => (256, 84),
        11 => (256, 110),
        12 => (256, 144),
        13 => (256, 176),
        14 => (256, 210),
        _ => return 0,
    };
    elements.div_ceil(block).saturating_mul(bytes)
}

/// The usual name of a `general.file_type`.
fn quantization(number: u64) -> Option<&'static str> {
    const NAMES: &[(u64, &str)] = &[
        (0, "F32"),
        (1, "F16"),
        (2, "Q4_0"),
        (3, "Q4_1"),
        (7, "Q8_0"),
        (8, "Q5_0"),
        (9, "Q5_1"),
        (10, "Q2_K"),
        (11, "Q3_K_S"),
        (12, "Q3_K_M"),
        (13, "Q3_K_L"),
        (14, "Q4_K_S"),
        (15, "Q4_K_M"),
        (16, "Q5_K_S"),
        (17, "Q5_K_M"),
        (18, "Q6_K"),
        (32, "BF16"),
    ];
    NAMES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

#[cfg(test)]
pub(super) mod tests;
