-- What the notes of one memory say. All of it can be made again from them.

-- One row: of which history it knows, and how much is in it; `embedder` has made the points of so many notes.
CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    history BLOB,
    is_complete INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    files INTEGER NOT NULL,
    notes INTEGER NOT NULL,
    texts INTEGER NOT NULL,
    embedder TEXT,
    points INTEGER NOT NULL
) STRICT;

-- Every file, as it was when it was looked at; `stem` is its name as links find it.
CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    is_link INTEGER NOT NULL,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    stem TEXT NOT NULL
) STRICT;
CREATE INDEX file_stem ON file (stem);
CREATE INDEX file_link ON file (is_link) WHERE is_link;

-- What is kept of those that are called notes; `card` is NULL for what is no text.
CREATE TABLE note (
    file INTEGER PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
    digest BLOB,
    look BLOB NOT NULL,
    card BLOB
) STRICT;

-- What a note is called: file name, title, aliases.
CREATE TABLE name (
    file INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    PRIMARY KEY (file, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX name_name ON name (name);

-- The names that the links of a note lead to.
CREATE TABLE link (
    file INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    PRIMARY KEY (file, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_name ON link (name);

-- What a note means: how many numbers a point has, in two bytes, then its points, a byte a number.
CREATE TABLE point (
    file INTEGER PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
    numbers BLOB NOT NULL
) STRICT;

-- The words, made by us and joined by blanks: each once, followed by how much of it the note has, and those of keys once more.
CREATE VIRTUAL TABLE text USING fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
CREATE VIRTUAL TABLE word USING fts5vocab (text, row);
