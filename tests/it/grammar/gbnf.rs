//! A reader of grammars in the notation of llama.cpp, as far as memdir prints it: enough to check a text against one, and
//! to make texts that follow it.

use std::collections::{BTreeMap, BTreeSet};

/// A grammar as it was read.
pub(super) struct Gbnf {
    rules: BTreeMap<String, Part>,
}

#[derive(Debug)]
enum Part {
    Text(Vec<char>),
    Class { is_not: bool, ranges: Vec<(char, char)> },
    Rule(String),
    All(Vec<Part>),
    Any(Vec<Part>),
    Times(Box<Part>, usize, usize),
}

/// Where choices come from.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    /// A number below `sides`.
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// What a text is made of where any character is taken: what could end a text, a tag or a line too early.
const CHARACTERS: &str =
    "abcZ09 \"\\<>/'`{}[],:-#&*_~.\n\té北\u{1F600}\u{feff}\u{200b}\u{2028}\u{a0}“”\u{10ffff}\u{7f}\u{85}\0";
const PIECES: &[&str] = &[
    "</actions>",
    "<actions>[",
    "<reply>",
    "</reply>",
    "<think>",
    "</think>",
    "</result>",
    "<python>",
    "<mcp:tool>",
    "```",
    "<!--",
    "&lt;actions&gt;",
    "// x",
    "/* x",
    "True",
    "\"}]",
    "\\\"}]</actions>",
    "..",
    "../",
    ".memdir",
    "CON",
    "a .md",
    "\\n<reply>x</reply>\\n",
    "user.md",
    "memdir~1",
];

impl Gbnf {
    pub(super) fn read(text: &str) -> Self {
        let mut rules = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, body) = line.split_once(" ::= ").expect("a rule a line");
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name}");
            let mut reader = Reader { text: body.chars().collect(), at: 0 };
            let part = reader.any();
            assert_eq!(reader.at, reader.text.len(), "{line}");
            assert!(rules.insert(name.to_owned(), part).is_none(), "{name} is there twice");
        }
        assert!(rules.contains_key("root"));
        let grammar = Self { rules };
        let mut seen = BTreeSet::new();
        grammar.check("root", &mut Vec::new(), &mut seen);
        assert_eq!(seen.len(), grammar.rules.len(), "every rule is of use");
        grammar
    }

    /// Every rule that is named is there, and none leads back to itself.
    fn check<'g>(&'g self, name: &'g str, above: &mut Vec<&'g str>, seen: &mut BTreeSet<String>) {
        assert!(!above.contains(&name), "{name} leads back to itself");
        if !seen.insert(name.to_owned()) {
            return;
        }
        above.push(name);
        let part = self.rules.get(name).unwrap_or_else(|| panic!("no rule {name}"));
        let mut parts = vec![part];
        while let Some(part) = parts.pop() {
            match part {
                Part::Rule(name) => self.check(name, above, seen),
                Part::All(more) | Part::Any(more) => parts.extend(more),
                Part::Times(part, least, most) => {
                    assert!(least <= most && *most < 2_000, "llama.cpp takes fewer than 2,000 of anything");
                    parts.push(part);
                }
                Part::Text(_) | Part::Class { .. } => {}
            }
        }
        above.pop();
    }

    pub(super) fn takes(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        self.ends(&self.rules["root"], &text, &BTreeSet::from([0])).contains(&text.len())
    }

    /// Where the part can end that starts at any of `starts`.
    fn ends(&self, part: &Part, text: &[char], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
        if starts.is_empty() {
            return BTreeSet::new();
        }
        match part {
            Part::Text(wanted) => {
                starts.iter().filter(|at| text[**at..].starts_with(wanted)).map(|at| at + wanted.len()).collect()
            }
            Part::Class { .. } => starts
                .iter()
                .filter(|at| text.get(**at).is_some_and(|found| part.has(*found)))
                .map(|at| at + 1)
                .collect(),
            Part::Rule(name) => self.ends(&self.rules[name], text, starts),
            Part::All(parts) => parts.iter().fold(starts.clone(), |starts, part| self.ends(part, text, &starts)),
            Part::Any(parts) => parts.iter().flat_map(|part| self.ends(part, text, starts)).collect(),
            Part::Times(part, least, most) => {
                let mut all = BTreeSet::new();
                let mut ends = starts.clone();
                for count in 0..=*most {
                    if count >= *least {
                        all.extend(&ends);
                    }
                    ends = self.ends(part, text, &ends);
                    if ends.is_empty() {
                        break;
                    }
                }
                all
            }
        }
    }

    /// A text that follows the grammar.
    pub(super) fn make(&self, dice: &mut Dice) -> String {
        let mut text = String::new();
        self.add(&self.rules["root"], dice, &mut text);
        text
    }

    fn add(&self, part: &Part, dice: &mut Dice, text: &mut String) {
        match part {
            Part::Text(wanted) => text.extend(wanted),
            Part::Class { .. } => text.push(part.one(dice)),
            Part::Rule(name) => self.add(&self.rules[name], dice, text),
            Part::All(parts) => parts.iter().for_each(|part| self.add(part, dice, text)),
            Part::Any(parts) => self.add(&parts[dice.roll(parts.len())], dice, text),
            Part::Times(part, least, most) => {
                let more = most - least;
                let more = match dice.roll(40) {
                    0 => more,
                    1..10 => 0,
                    _ => dice.roll(more.min(12) + 1),
                };
                let mut left = least + more;
                while left > 0 {
                    left -= self.add_piece(part, left, dice, text).unwrap_or_else(|| {
                        self.add(part, dice, text);
                        1
                    });
                }
            }
        }
    }

    /// Adds a piece made of things that the part takes one by one, and says how many they are.
    fn add_piece(&self, part: &Part, most: usize, dice: &mut Dice, text: &mut String) -> Option<usize> {
        if most < 3 || dice.roll(5) > 0 {
            return None;
        }
        let piece: Vec<char> = PIECES[dice.roll(PIECES.len())].chars().collect();
        let (mut at, mut count) = (0, 0);
        while at < piece.len() {
            at = *self.ends(part, &piece, &BTreeSet::from([at])).last()?;
            count += 1;
        }
        if count > most {
            return None;
        }
        text.extend(piece);
        Some(count)
    }
}

impl Part {
    fn has(&self, character: char) -> bool {
        let Self::Class { is_not, ranges } = self else { return false };
        ranges.iter().any(|(first, last)| (*first..=*last).contains(&character)) != *is_not
    }

    fn one(&self, dice: &mut Dice) -> char {
        let Self::Class { is_not: true, .. } = self else {
            let Self::Class { ranges, .. } = self else { unreachable!() };
            let (first, last) = ranges[dice.roll(ranges.len())];
            return if dice.roll(2) == 0 { first } else { last };
        };
        let known: Vec<char> = CHARACTERS.chars().filter(|character| self.has(*character)).collect();
        loop {
            if dice.roll(8) > 0 {
                return known[dice.roll(known.len())];
            }
            let found = u32::try_from(dice.roll(0x11_0000)).ok().and_then(char::from_u32);
            if let Some(found) = found.filter(|found| self.has(*found)) {
                return found;
            }
        }
    }
}

struct Reader {
    text: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> char {
        self.at += 1;
        self.text[self.at - 1]
    }

    fn eat(&mut self, character: char) -> bool {
        let is_next = self.peek() == Some(character);
        self.at += usize::from(is_next);
        is_next
    }

    fn blanks(&mut self) {
        while self.eat(' ') {}
    }

    fn any(&mut self) -> Part {
        let mut parts = vec![self.all()];
        while self.eat('|') {
            parts.push(self.all());
        }
        Part::Any(parts)
    }

    fn all(&mut self) -> Part {
        let mut parts = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                None | Some('|' | ')') => break,
                Some(_) => parts.push(self.times()),
            }
        }
        assert!(!parts.is_empty());
        Part::All(parts)
    }

    fn times(&mut self) -> Part {
        let part = self.one();
        if self.eat('?') {
            return Part::Times(Box::new(part), 0, 1);
        }
        if !self.eat('{') {
            return part;
        }
        let bounds: String = std::iter::from_fn(|| Some(self.next()).filter(|found| *found != '}')).collect();
        let (least, most) = bounds.split_once(',').expect("two bounds");
        Part::Times(Box::new(part), least.parse().unwrap(), most.parse().unwrap())
    }

    fn one(&mut self) -> Part {
        match self.next() {
            '"' => {
                let mut text = Vec::new();
                while !self.eat('"') {
                    text.push(self.character());
                }
                Part::Text(text)
            }
            '[' => {
                let is_not = self.eat('^');
                let mut ranges = Vec::new();
                while !self.eat(']') {
                    let first = self.character();
                    let last = if self.eat('-') { self.character() } else { first };
                    ranges.push((first, last));
                }
                Part::Class { is_not, ranges }
            }
            '(' => {
                let part = self.any();
                assert!(self.eat(')'));
                part
            }
            first => {
                let mut name = String::from(first);
                while self.peek().is_some_and(|next| next.is_ascii_lowercase() || next == '-') {
                    name.push(self.next());
                }
                Part::Rule(name)
            }
        }
    }

    /// A character of a text or class, with the escapes that llama.cpp knows.
    fn character(&mut self) -> char {
        let first = self.next();
        if first != '\\' {
            assert!(!first.is_control());
            return first;
        }
        let digits = match self.next() {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            'n' => return '\n',
            't' => return '\t',
            'r' => return '\r',
            same @ ('\\' | '"' | '[' | ']') => return same,
            other => panic!("no escape of llama.cpp: {other}"),
        };
        let code: String = (0..digits).map(|_| self.next()).collect();
        char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap()
    }
}
