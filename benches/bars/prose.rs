//! Folders of notes as people have them: words of which few are common and most are rare, links, facts, headings.
//!
//! The notes of [`vaults`] hold 38 words, each as often as the others, which no index needs to be good at.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::vaults::{self, Seed};

/// Raised when the notes become others, so that folders of an earlier run are made anew.
const VERSION: &str = "1";
/// Notes in one folder.
const FOLDER: usize = 400;
/// How many words there are.
const WORDS: usize = 120_000;
/// How many words are said of one subject.
const SUBJECT: usize = 300;

/// The most common words of English, about in their order.
const COMMON: &str = "the of and to a in is that it was for on are as with they be at one have this from by hot but some \
    what there we can out other were all your when up use how said an each she which do their time if will way about many \
    then them would like so these her long make thing see him two has look more day could go come did my no who may down \
    side been now find any new part take get place made where after back little only man year came show every good me give \
    our under name very through just form much great think say help low line before turn cause same mean";
const KEYS: &str = "phone born city email job company address likes allergic status owner due size colour price brand \
    teacher doctor school street country language team started ended weight height car hobby budget version";
/// What people ask for, from the questions that come with memdir.
const QUESTIONS: &str = include_str!("../../examples/questions/household.jsonl");
const SYLLABLES: &str = "ba ce di fo gu ka le mi no pu ra se ti vo wu za bre cla dro fli gra ja ke li mo nu pa re si to \
    va we xi yo zu tha che sho pri sta bel can dor fen gil har jen kol lam mer nol por quin rus sal ten ulm ver wil yar zen";

/// The words of all notes, the most common first.
pub(crate) struct Words {
    known: Vec<String>,
    syllables: Vec<&'static str>,
    keys: Vec<&'static str>,
}

impl Words {
    pub(crate) fn new() -> Self {
        let syllables: Vec<_> = SYLLABLES.split_whitespace().collect();
        let mut known: Vec<String> = COMMON.split_whitespace().map(str::to_owned).collect();
        // What is asked for stands among the words of the middle, fewer and fewer of them.
        let mut asked: Vec<(usize, String)> = Vec::new();
        for question in questions() {
            for word in question.to_lowercase().split(|character: char| !character.is_alphanumeric()) {
                if word.len() > 2 && !known.iter().chain(asked.iter().map(|(_, word)| word)).any(|other| other == word)
                {
                    asked.push((known.len() + 2 * asked.len() * asked.len(), word.to_owned()));
                }
            }
        }
        let mut asked = asked.into_iter().peekable();
        while known.len() < WORDS {
            let next = asked.next_if(|(rank, _)| *rank <= known.len()).map(|(_, word)| word);
            let made = next.unwrap_or_else(|| made(known.len(), &syllables));
            known.push(made);
        }
        Self { known, syllables, keys: KEYS.split_whitespace().collect() }
    }

    /// A rank below `most`, each as often as its reciprocal says.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
    fn ranked(&self, seed: &mut Seed, most: usize) -> usize {
        let share = seed.below(1 << 20) as f64 / f64::from(1 << 20);
        (((most as f64).ln() * share).exp() - 1.0) as usize
    }

    fn at(&self, rank: usize) -> &str {
        self.known.get(rank).map_or("the", String::as_str)
    }

    /// A word of a note about a subject.
    fn any(&self, seed: &mut Seed, subject: usize) -> &str {
        if seed.below(4) == 0 {
            return self.at(subject + self.ranked(seed, SUBJECT));
        }
        self.at(self.ranked(seed, WORDS))
    }

    /// A word that is not among the most common.
    fn rare(&self, seed: &mut Seed) -> &str {
        self.at(200 + seed.below(20_000))
    }

    /// The file name of a note without `.md`.
    pub(crate) fn stem(&self, number: usize) -> String {
        let mut seed = Seed::new(number as u64 + 0x5eed);
        format!("{}-{}-{number}", self.rare(&mut seed), self.rare(&mut seed))
    }

    /// The path of a note.
    pub(crate) fn path(&self, number: usize) -> String {
        let folder = number / FOLDER;
        format!("area-{}/{}-{folder}/{}.md", folder % 16, self.at(300 + folder), self.stem(number))
    }

    /// A note of 1.7 KB on average.
    pub(crate) fn text(&self, number: usize) -> String {
        let mut seed = Seed::new(number as u64 + 1);
        let subject = 200 + seed.below(WORDS - SUBJECT - 200);
        let size = if number.is_multiple_of(50) { 8_000 } else { 500 + seed.below(2_100) };
        let mut text = format!("---\ntags: [{}, note]\n", self.at(subject));
        if number.is_multiple_of(10) {
            let _ = writeln!(text, "aliases: [\"{} {}\"]", self.rare(&mut seed), self.rare(&mut seed));
        }
        let title = self.stem(number);
        let _ = write!(text, "---\n# {}\n\n", title.rsplit_once('-').map_or(title.as_str(), |(title, _)| title));
        while text.len() < size {
            match seed.below(12) {
                0 => {
                    let _ = writeln!(text, "\n## {} {}\n", self.any(&mut seed, subject), self.rare(&mut seed));
                }
                1 | 2 => self.fact(&mut seed, subject, &mut text),
                // The first notes are linked to by many.
                3 => {
                    let last = seed.below(number + 1);
                    let _ = write!(text, "See [[{}]]. ", self.stem(seed.below(last + 1)));
                }
                _ => self.sentence(&mut seed, subject, &mut text),
            }
        }
        text.push('\n');
        text
    }

    fn fact(&self, seed: &mut Seed, subject: usize, text: &mut String) {
        let key = self.keys.get(seed.below(self.keys.len())).copied().unwrap_or("name");
        let _ = match seed.below(3) {
            0 => {
                writeln!(text, "\n- {key}: 20{:02}-{:02}-{:02}", seed.below(26), seed.below(12) + 1, seed.below(28) + 1)
            }
            _ => writeln!(text, "\n- {key}: {} {}", self.any(seed, subject), self.rare(seed)),
        };
    }

    fn sentence(&self, seed: &mut Seed, subject: usize, text: &mut String) {
        for word in 0..8 + seed.below(14) {
            let start = text.len();
            text.push_str(self.any(seed, subject));
            if word == 0
                && let Some(first) = text.get_mut(start..=start)
            {
                first.make_ascii_uppercase();
            }
            text.push(if seed.below(12) == 0 { ',' } else { ' ' });
            if text.ends_with(',') {
                text.push(' ');
            }
        }
        text.truncate(text.trim_end_matches([',', ' ']).len());
        text.push_str(". ");
        if seed.below(4) == 0 {
            text.push_str("\n\n");
        }
    }

    /// A word that no note holds.
    pub(crate) fn unused(&self, number: usize) -> String {
        let mut word = "zqx".to_owned();
        let mut rest = number + 1;
        while rest > 0 {
            word.push_str(self.syllables.get(rest % self.syllables.len()).copied().unwrap_or_default());
            rest /= self.syllables.len();
        }
        word
    }
}

/// The word of a rank, of two syllables or more: the same syllables as its number has digits.
fn made(rank: usize, syllables: &[&str]) -> String {
    let mut word = String::new();
    // One factor that has no part in common with the number of syllables mixes them.
    let mut rest = (rank + 1) * 7 + syllables.len();
    while rest > 0 {
        word.push_str(syllables.get(rest % syllables.len()).copied().unwrap_or_default());
        rest /= syllables.len();
    }
    word
}

/// The questions that come with memdir.
pub(crate) fn questions() -> Vec<String> {
    let question = |line: &str| -> Option<String> {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(line.get("question")?.as_str()?.to_owned())
    };
    QUESTIONS.lines().filter_map(question).collect()
}

/// A folder of `count` such notes without a `.memdir`; it is made once.
pub(crate) fn vault(words: &Words, count: usize) -> PathBuf {
    let folder = vaults::scratch().join(format!("prose-{count}"));
    let stamp = vaults::scratch().join(format!("prose-{count}.made"));
    if fs::read_to_string(&stamp).is_ok_and(|version| version == VERSION) {
        vaults::clean(&folder);
        return folder;
    }
    let _ = fs::remove_dir_all(&folder);
    for number in 0..count {
        let path = folder.join(words.path(number));
        if number % FOLDER == 0 {
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder can be made");
        }
        fs::write(path, words.text(number)).expect("a note can be written");
    }
    fs::write(stamp, VERSION).expect("a stamp can be written");
    folder
}
