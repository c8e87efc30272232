//! [`Impact`]: how much a word says in a note, in the few steps that are kept of it.

use super::bm25::{MOST, saturated};

/// The length of a note, in words, that is neither short nor long. It is fixed and not the mean of a memory, so that what is kept of a note
/// holds whatever becomes of the others.
const LENGTH: f64 = 300.0;
/// A note with fewer words counts as one with so many: its few words say no more, and what facts and links say keeps its weight beside them.
const SHORTEST: u32 = 100;

/// How often a word stands in a note, weighed by that note's length as BM25 does, in [`Impact::STEPS`] equal steps: an index that keeps the
/// step beside the word need not count anything when it is asked (impact-ordered postings, after Anh and Moffat).
///
/// # Examples
///
/// ```
/// use memdir_rank::Impact;
///
/// assert!(Impact::of(3.0, 100).value() > Impact::of(1.0, 100).value(), "often before once");
/// assert!(Impact::of(1.0, 50).value() > Impact::of(1.0, 2_000).value(), "short before long");
/// ```
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Impact(u8);

impl Impact {
    /// How many steps there are.
    pub const STEPS: u8 = 8;

    /// Takes how often a word stands in a note, each time weighed by its [`super::Column`], and how many words the note has.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 up to 8")]
    pub fn of(often: f64, words: u32) -> Self {
        let much = saturated(often, f64::from(words.max(SHORTEST)) / LENGTH) / MOST;
        Self(((much * f64::from(Self::STEPS)) as u8).min(Self::STEPS - 1))
    }

    /// The least and the most.
    pub const RANGE: [Self; 2] = [Self(0), Self(Self::STEPS - 1)];

    /// The step, from 0.
    #[must_use]
    pub fn step(self) -> u8 {
        self.0
    }

    /// The impact of a step; `None` where there is no such step.
    #[must_use]
    pub fn of_step(step: u8) -> Option<Self> {
        (step < Self::STEPS).then_some(Self(step))
    }

    /// How much that is, from above 0 up to 2.2: the middle of the step.
    #[must_use]
    pub fn value(self) -> f64 {
        (f64::from(self.0) + 0.5) / f64::from(Self::STEPS) * MOST
    }
}

#[cfg(test)]
mod tests {
    use super::Impact;

    #[test]
    fn a_step_holds_what_the_formula_says() {
        for often in [1.0, 1.5, 2.0, 3.0, 6.5, 40.0] {
            for words in [1_u32, 10, 300, 900, 100_000] {
                // BM25 with k1 1.2 and b 0.75, by its formula.
                let exact = often * 2.2 / (often + 1.2 * (0.25 + 0.75 * f64::from(words.max(100)) / 300.0));
                let impact = Impact::of(often, words);
                assert!((impact.value() - exact).abs() <= 2.2 / 16.0 + 1e-9, "{often} {words}");
                assert_eq!(Impact::of_step(impact.step()), Some(impact));
            }
        }
        assert_eq!(Impact::of_step(Impact::STEPS), None);
    }
}
