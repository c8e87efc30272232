//! [`DiffLines`]: what each line of a unified diff is, for its colour.

/// Goes through the lines of a diff. What names the files is no change, although it begins as one does.
#[derive(Debug, Default)]
pub(crate) struct DiffLines {
    /// So many lines of the hunk are still to come, before and after.
    left: (usize, usize),
}

impl DiffLines {
    /// The class of the next line.
    pub(crate) fn class(&mut self, line: &str) -> Option<&'static str> {
        let (before, after) = self.left;
        let is_name = self.left == (0, 0);
        match line.as_bytes().first() {
            Some(b'@') if is_name => {
                self.left = (hunk_lines(line, '-'), hunk_lines(line, '+'));
                Some("place")
            }
            Some(b'+' | b'-') if is_name => Some("place"),
            Some(b'+') => {
                self.left = (before, after.saturating_sub(1));
                Some("added")
            }
            Some(b'-') => {
                self.left = (before.saturating_sub(1), after);
                Some("removed")
            }
            // It says of the line before that nothing ends it.
            Some(b'\\') => None,
            _ => {
                self.left = (before.saturating_sub(1), after.saturating_sub(1));
                None
            }
        }
    }
}

/// How many lines of a side a hunk has: `@@ -4,3 +4,5 @@`.
fn hunk_lines(place: &str, side: char) -> usize {
    let range = place.split(' ').find_map(|word| word.strip_prefix(side)).unwrap_or_default();
    range.split_once(',').map_or(1, |(_, lines)| lines.parse().unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::DiffLines;

    #[test]
    fn the_names_of_a_diff_have_no_colour_and_its_lines_have() {
        let mut lines = DiffLines::default();
        for (line, expected) in [
            ("--- a/x.md", Some("place")),
            ("+++ b/x.md", Some("place")),
            ("@@ -1,3 +1,3 @@", Some("place")),
            (" a", None),
            ("--- b", Some("removed")),
            ("+++ d", Some("added")),
            ("@@ no place", None),
            ("--- a/y.md", Some("place")),
            ("+++ /dev/null", Some("place")),
            ("@@ -1 +0,0 @@", Some("place")),
            ("-e", Some("removed")),
            ("\\ No newline at end of file", None),
            ("--- a/z.md", Some("place")),
        ] {
            assert_eq!(lines.class(line), expected, "{line}");
        }
    }
}
