//! [`Excluded`]: which files a person has set aside in Obsidian: excluded ones, and templates.
//!
//! Owns what `.obsidian/app.json`, `templates.json` and `daily-notes.json` say of that, and nothing else of them. What cannot
//! be read there sets nothing aside and is told. Touches nothing but the bytes given to it.

use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use memdir_core::path::MemoryPath;

/// No more bytes of one of them are read.
pub const MOST_BYTES: u64 = 64 << 10;

const APP: &str = "app.json";
const TEMPLATES: &str = "templates.json";
const DAILY: &str = "daily-notes.json";

/// No more filters than this count, no more patterns among them, and none that is longer or takes more memory as a pattern: each
/// search matches every path against them.
const MOST_FILTERS: usize = 200;
const MOST_PATTERNS: usize = 16;
const MOST_FILTER_BYTES: usize = 1_000;
const MOST_PATTERN_BYTES: usize = 64 << 10;

/// What a person has set aside.
#[derive(Clone, Debug, Default)]
pub struct Excluded {
    /// How the paths of excluded files begin, in small letters.
    starts: Vec<String>,
    /// What occurs in the paths of excluded files.
    patterns: Vec<Regex>,
    /// The folder of templates, and the template of a day.
    templates: Vec<MemoryPath>,
    /// What could not be read, each with why.
    pub unread: Vec<String>,
}

/// What is read of `app.json`.
#[derive(Deserialize)]
struct App {
    #[serde(default, rename = "userIgnoreFilters")]
    filters: Option<Vec<String>>,
}

/// What is read of `templates.json` and `daily-notes.json`.
#[derive(Deserialize)]
struct Templates {
    #[serde(default)]
    folder: Option<String>,
    #[serde(default)]
    template: Option<String>,
}

impl Excluded {
    /// Nothing is set aside.
    pub const NONE: Self = Self { starts: Vec::new(), patterns: Vec::new(), templates: Vec::new(), unread: Vec::new() };

    /// Reads the settings; `read` gives a file of `.obsidian/`, or why it cannot, or `None` where there is none.
    #[must_use]
    pub fn of(read: impl Fn(&str) -> Result<Option<Vec<u8>>, String>) -> Self {
        let mut excluded = Self::default();
        if let Some(App { filters: Some(filters) }) = excluded.settings(APP, &read) {
            for filter in filters.iter().take(MOST_FILTERS) {
                excluded.exclude(filter);
            }
            if filters.len() > MOST_FILTERS {
                excluded.unread.push(format!("{APP}: only the first {MOST_FILTERS} excluded files count"));
            }
        }
        if let Some(Templates { folder: Some(folder), .. }) = excluded.settings(TEMPLATES, &read) {
            excluded.templates.extend(MemoryPath::parse(folder.trim_matches('/')));
        }
        if let Some(Templates { template: Some(template), .. }) = excluded.settings(DAILY, &read) {
            let template = template.trim_matches('/');
            let paths = [MemoryPath::parse(template), MemoryPath::parse(&format!("{template}.md"))];
            excluded.templates.extend(paths.into_iter().flatten());
        }
        excluded
    }

    /// The same with all that is below some folders set aside, too.
    #[must_use]
    pub fn and_below<'f>(mut self, folders: impl IntoIterator<Item = &'f MemoryPath>) -> Self {
        self.starts.extend(folders.into_iter().map(|folder| format!("{}/", folder.as_str().to_lowercase())));
        self
    }

    fn settings<S: DeserializeOwned>(
        &mut self,
        name: &str,
        read: &impl Fn(&str) -> Result<Option<Vec<u8>>, String>,
    ) -> Option<S> {
        let settings = read(name).and_then(|bytes| {
            let Some(bytes) = bytes else { return Ok(None) };
            let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
            serde_json::from_slice(json).map(Some).map_err(|_| "holds no settings that can be read".to_owned())
        });
        settings.unwrap_or_else(|why| {
            self.unread.push(format!("{name}: {why}"));
            None
        })
    }

    /// Takes one of the excluded files: the beginning of a path, or `/a pattern/`, in any case.
    fn exclude(&mut self, filter: &str) {
        let pattern = filter.strip_prefix('/').and_then(|filter| filter.strip_suffix('/'));
        let pattern = match pattern {
            _ if filter.len() > MOST_FILTER_BYTES => None,
            // An empty pattern would match every file.
            Some("") => None,
            Some(_) if self.patterns.len() == MOST_PATTERNS => None,
            None if filter.is_empty() => return,
            None => return self.starts.push(filter.to_lowercase()),
            Some(pattern) => RegexBuilder::new(pattern)
                .case_insensitive(true)
                .size_limit(MOST_PATTERN_BYTES)
                .dfa_size_limit(MOST_PATTERN_BYTES)
                .nest_limit(50)
                .build()
                .ok(),
        };
        match pattern {
            Some(pattern) => self.patterns.push(pattern),
            None => {
                let shown: String = filter.chars().take(60).collect();
                self.unread
                    .push(format!("{APP}: `{shown}` is too long, one pattern too many, or not a supported pattern"));
            }
        }
    }

    /// Whether a file is set excluded.
    #[must_use]
    pub fn holds(&self, path: &MemoryPath) -> bool {
        if self.is_empty() {
            return false;
        }
        let lower = path.as_str().to_lowercase();
        self.starts.iter().any(|start| lower.starts_with(start))
            || self.templates.iter().any(|folder| path.is_within(folder))
            || self.patterns.iter().any(|pattern| pattern.is_match(path.as_str()))
    }

    /// Whether nothing is set excluded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many filters and places of templates there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() + self.patterns.len() + self.templates.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluded(app: &str, templates: &str, daily: &str) -> Excluded {
        Excluded::of(|name| {
            let text = match name {
                APP => app,
                TEMPLATES => templates,
                _ => daily,
            };
            Ok(Some(text.as_bytes().to_vec()))
        })
    }

    fn check(excluded: &Excluded, path: &str, expected: bool) {
        assert_eq!(excluded.holds(&MemoryPath::parse(path).unwrap()), expected, "{path}");
    }

    #[test]
    fn excluded_files_and_templates_are_set_aside() {
        let app = r#"{"userIgnoreFilters":["Archive/","private.md","/\\d{4}-draft/","/^\u00e9T/"],"newLinkFormat":"relative"}"#;
        let excluded =
            excluded(app, r#"{"folder":"/Meta/Templates/","dateFormat":"x"}"#, r#"{"template":"Daily/day"}"#);
        assert_eq!(excluded.unread, Vec::<String>::new());
        for path in ["archive/a.md", "Archive/b/c.png", "PRIVATE.MD.md", "a/2024-Draft.md", "\u{c9}tude.md"] {
            check(&excluded, path, true);
        }
        for path in ["Meta/Templates/a/b.md", "Daily/day.md", "Daily/day"] {
            check(&excluded, path, true);
        }
        for path in
            ["a/archive/a.md", "Archive.md", "24-draft.md", "meta/Templates/a.md", "Daily/day2.md", "a/\u{e9}t.md"]
        {
            check(&excluded, path, false);
        }
    }

    #[test]
    fn what_cannot_be_read_sets_nothing_aside_and_is_told() {
        let deep = format!("{{\"userIgnoreFilters\":[\"a/\"],\"x\":{}1{}}}", "[".repeat(20_000), "]".repeat(20_000));
        for app in ["", "{", "{\"userIgnoreFilters\":\"a/\"}", "{\"userIgnoreFilters\":[1]}", "\u{0}"] {
            let excluded = excluded(app, "{}", "null");
            assert_eq!(excluded.len(), 0, "{app}");
            assert_eq!(excluded.unread.len(), 2, "{app}: {:?}", excluded.unread);
        }
        check(&excluded(&deep, "{}", "{}"), "a/b.md", true);
        check(&excluded("\u{feff}{\"userIgnoreFilters\":[\"a/\",\"\"]}", "{\"folder\":\"\"}", "{}"), "b.md", false);
        let bad = ["/(/", "/a(?=b)/", "/(a{1000}){1000}/", &format!("/{}/", "a".repeat(2_000)), &"x".repeat(2_000)];
        let app = serde_json::json!({"userIgnoreFilters": bad}).to_string();
        let excluded = excluded(&app, "{\"folder\":\"../x\"}", "{}");
        assert_eq!((excluded.len(), excluded.unread.len()), (0, bad.len()), "{:?}", excluded.unread);
        let failing = Excluded::of(|_| Err("is larger than 64 KB".to_owned()));
        assert_eq!(failing.unread[0], "app.json: is larger than 64 KB");
    }
}
