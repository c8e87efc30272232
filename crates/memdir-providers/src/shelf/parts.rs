//! In which order the parts of a file are joined: by the number in their names.

use super::ShelfError;

/// Puts names in the order of the one number in which they differ, and gives their indices.
///
/// # Errors
///
/// [`ShelfError::Split`] for files that llama.cpp has split a model into, [`ShelfError::Parts`] where the names differ in
/// something else, or a number is missing or twice there.
pub(super) fn order(names: &[&str]) -> Result<Vec<usize>, ShelfError> {
    if let Some(name) = names.iter().find(|name| is_split(name)) {
        return Err(ShelfError::Split((*name).to_owned()));
    }
    let [first, rest @ ..] = names else { return Ok(Vec::new()) };
    if rest.is_empty() {
        return Ok(vec![0]);
    }
    let runs: Vec<Vec<Run<'_>>> = names.iter().map(|name| runs(name)).collect();
    let length = runs.first().map_or(0, Vec::len);
    if let Some((other, _)) = names.iter().zip(&runs).find(|(_, runs)| runs.len() != length) {
        return Err(ShelfError::Parts(format!("`{first}` and `{other}` differ in more than a number")));
    }
    let column = |at: usize| runs.iter().filter_map(move |runs| runs.get(at).copied());
    let mut differing = (0..length).filter(|at| column(*at).any(|run| Some(run) != column(*at).next()));
    let (Some(at), None) = (differing.next(), differing.next()) else {
        return Err(ShelfError::Parts("their names differ in more than a number, or in nothing".to_owned()));
    };
    let mut numbered = Vec::with_capacity(names.len());
    for (index, run) in column(at).enumerate() {
        let Run::Number(number) = run else {
            return Err(ShelfError::Parts("their names do not differ in a number".to_owned()));
        };
        numbered.push((number, index));
    }
    numbered.sort_unstable();
    for pair in numbered.windows(2) {
        if let [(one, _), (next, _)] = pair
            && one.saturating_add(1) != *next
        {
            let what =
                if one == next { format!("part {one} is there twice") } else { format!("part {} is missing", one + 1) };
            return Err(ShelfError::Parts(what));
        }
    }
    match numbered.first() {
        Some((number, _)) if *number > 1 => Err(ShelfError::Parts(format!("part {} is missing", number - 1))),
        _ => Ok(numbered.into_iter().map(|(_, index)| index).collect()),
    }
}

/// A run of digits of a name, or what is between two of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Run<'a> {
    Number(u64),
    Text(&'a str),
}

fn runs(name: &str) -> Vec<Run<'_>> {
    name.as_bytes()
        .chunk_by(|one, next| one.is_ascii_digit() == next.is_ascii_digit())
        .filter_map(|chunk| std::str::from_utf8(chunk).ok())
        .map(|chunk| chunk.parse().map_or(Run::Text(chunk), Run::Number))
        .collect()
}

/// Whether a name ends as llama.cpp names the files of a split model: `-00001-of-00003.gguf`.
fn is_split(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_number = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    let stem = lower.strip_suffix(".gguf").and_then(|stem| stem.rsplit_once("-of-"));
    let numbers = stem.and_then(|(before, count)| Some((before.rsplit_once('-')?.1, count)));
    numbers.is_some_and(|(number, count)| is_number(number) && is_number(count))
}

#[cfg(test)]
mod tests {
    use super::{ShelfError, order};

    #[track_caller]
    fn check(names: &[&str], expected: &[usize]) {
        assert_eq!(order(names), Ok(expected.to_vec()));
    }

    #[track_caller]
    fn refused(names: &[&str], expected: &str) {
        assert_eq!(order(names), Err(ShelfError::Parts(expected.to_owned())));
    }

    #[test]
    fn ten_comes_after_nine() {
        check(&["model.gguf"], &[0]);
        check(
            &[
                "m.part10", "m.part9", "m.part8", "m.part1", "m.part2", "m.part3", "m.part4", "m.part5", "m.part6",
                "m.part7",
            ],
            &[3, 4, 5, 6, 7, 8, 9, 2, 1, 0],
        );
        check(&["q4_k_m.gguf.002", "q4_k_m.gguf.001", "q4_k_m.gguf.000"], &[2, 1, 0]);
        check(&["part-2-of-2.bin", "part-1-of-2.bin"], &[1, 0]);
        check(&["ä1", "ä2"], &[0, 1]);
    }

    #[test]
    fn what_are_no_parts() {
        refused(&["a.gguf", "b.gguf"], "their names do not differ in a number");
        refused(&["a1", "a1"], "their names differ in more than a number, or in nothing");
        refused(&["a1b2", "a2b1"], "their names differ in more than a number, or in nothing");
        refused(&["a1", "a2.gguf"], "`a1` and `a2.gguf` differ in more than a number");
        refused(&["a1", "a3"], "part 2 is missing");
        refused(&["a2", "a3"], "part 1 is missing");
        refused(&["a1", "a01", "a2"], "part 1 is there twice");
        refused(&["a99999999999999999999", "a1"], "their names do not differ in a number");
    }

    #[test]
    fn a_split_model_is_not_joined() {
        let name = "Big-00002-of-00003.gguf";
        assert_eq!(order(&[name]), Err(ShelfError::Split(name.to_owned())));
        check(&["big-of-00003.gguf"], &[0]);
    }
}
