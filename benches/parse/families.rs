//! Texts that would be slow to read if anything in the reader looked ahead twice. The tests read them too.

/// A text of any size: a start, and what is repeated behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    pub(crate) start: &'static str,
    pub(crate) unit: &'static str,
}

impl Family {
    pub(crate) fn text(self, bytes: usize) -> Vec<u8> {
        let mut text = self.start.as_bytes().to_vec();
        text.reserve(bytes + self.unit.len());
        while text.len() < bytes {
            text.extend_from_slice(self.unit.as_bytes());
        }
        text
    }
}

const fn family(name: &'static str, start: &'static str, unit: &'static str) -> Family {
    Family { name, start, unit }
}

pub(crate) const FAMILIES: &[Family] = &[
    family("opening tags", "", "<actions>"),
    family("opening tags in a list", "", "<actions>["),
    family("opening tags in a text", "", "<actions>[{\"a\":\""),
    family("opening tags in a comment", "", "<actions>/*"),
    family("opening tags in comments of a line", "", "<actions>//"),
    family("opening tags with a fence", "", "<actions>```"),
    family("closing tags", "", "</actions>"),
    family("closing tags in texts", "<actions>[", "\"</actions>\","),
    family("whole blocks", "", "<actions>[]</actions>"),
    family("blocks with a call", "", "<actions>[{\"action\":\"get_size\"}]</actions>"),
    family("broken blocks", "", "<actions>[{\"a\" \"b\"}]</actions>"),
    family("thoughts", "", "<think>"),
    family("ends of thoughts", "", "</think>"),
    family("ends of thoughts with fences", "", "</think>```"),
    family("thoughts and their ends", "", "<think>a</think>"),
    family("replies", "", "<reply>"),
    family("replies and their ends", "", "<reply>a</reply>```"),
    family("results", "", "<result>"),
    family("results and their ends", "", "<result>a</result>```"),
    family("half tags", "", "<act"),
    family("blanks in tags", "", "<     "),
    family("one tag full of blanks", "<", " "),
    family("backticks", "", "`"),
    family("backticks of changing length", "", "`a``b```c````d`````e"),
    family("one backtick a line", "", "` a\n"),
    family("backticks before thoughts", "", "` <think </reply>\n"),
    family("two backticks before a tag", "``", " ` <reply></reply>"),
    family("two backticks before a tag of a later line", "``", " ` a\n</reply> ` ``` b"),
    family("backticks of changing length before tags", "``", " ` a\n<reply></reply> ``` `` b <reply></reply>"),
    family("comments of HTML", "", "<!--"),
    family("comments of HTML and their ends", "", "<!--<actions>-->"),
    family("marks of a list", "", "- "),
    family("attributes", "", "<think a="),
    family("blocks in quotes", "", "\"<actions>[{\"action\":\"get_size\"}]</actions>"),
    family("indented blocks", "", "\n    <actions>[{\"action\":\"get_size\"}]</actions>\n"),
    family("fences", "", "```\n"),
    family("fences in a line", "", "```a b "),
    family("waves", "", "~~~\n"),
    family("quotes of Markdown", "", "> <actions>\n"),
    family("blank lines", "", " \n"),
    family("brackets", "<actions>", "["),
    family("bare brackets", "", "["),
    family("objects", "<actions>[", "{\"a\":"),
    family("one text", "<actions>[{\"a\":\"", "a"),
    family("one text of escapes", "<actions>[{\"a\":\"", "\\n"),
    family("one text of bad escapes", "<actions>[{\"a\":\"", "\\_"),
    family("calls with bad escapes", "<actions>[", "{\"action\":\"get_size\",\"path\":\"\\_\"},"),
    family("one text of smart quotes", "<actions>[{“a”:'", "“’"),
    family("changing quotes", "<actions>[", "\"'\",'\"',"),
    family("comments", "<actions>[", "/**/ // a\n"),
    family("comments with tags", "<actions>[", "//<actions\n"),
    family("commas", "<actions>[", "1,"),
    family("keys", "<actions>[{", "\"a\":1,"),
    family("one name", "<actions>[{", "a"),
    family("one number", "<actions>[", "1"),
    family("empty calls", "<actions>[", "{},"),
    family("lists one after the other", "<actions>", "[]"),
    family("lone objects", "<actions>", "{\"actions\":1}\n"),
    family("words after a list", "<actions>[]\n", "a <b "),
    family("words after lists", "", "<actions>[]\nword "),
    family("lines of a list", "<actions>[", "\n"),
    family("escaped tags", "", "&lt;actions&gt;"),
    family("code", "", "<python>"),
    family("code and its ends", "", "<python>a</python>```"),
    family("code in quotes", "", "\"<python>a</python>\""),
    family("tools", "", "<mcp:tool>"),
    family("tools with a name", "", "<mcp:tool>name: a\n"),
    family("tools and their ends", "", "<mcp:tool>name: get_size</mcp:tool>\n"),
    family("parameters that do not end", "", "<mcp:tool>name: a\nparameters: {"),
    family("parameters in a comment", "", "<mcp:tool>name: a\nparameters: {/*"),
    family("parameters in comments of a line", "", "<mcp:tool>name: a\nparameters: {\n//"),
    family("parameters in comments of lines with tags", "", "//<mcp:tool>name: a\nparameters: {\n"),
    family("comments before parameters", "<mcp:tool>name: a\nparameters: {\n", "# a\n"),
    family("lines of keys", "<mcp:tool>name: a\nparameters:\n", "a: b\n"),
    family("lines of keys with tags", "<mcp:tool>name: a\nparameters:\n", "a: <b <mcp\n"),
    family("results of tools", "", "<mcp:tool_result>"),
    family("results of tools and their ends", "", "<mcp:tool_result>a</mcp:tool_result>```"),
];

/// What a model says at length.
pub(crate) const PROSE: Family = family(
    "prose",
    "",
    "Ada moved to Paris in the spring, and her sister's flat (the one by the river) is let now.\n\
     She asked me to remember that `user.md` still says London; I will mend it when she is back.\n\n",
);
