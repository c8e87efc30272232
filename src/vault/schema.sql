-- Version 1 of the history. Times are microseconds since 1970 in UTC, digests 32 bytes.
CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;

-- Each content once. A row dies whole when it is pruned or forgotten, its digest with it.
CREATE TABLE content (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,       -- bytes of the content
    packed INTEGER NOT NULL,     -- 1: body is zstd
    body BLOB NOT NULL,
    batch INTEGER NOT NULL       -- the newest batch that refers to it
) STRICT;
CREATE INDEX content_batch ON content (batch);

CREATE TABLE batch (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    state INTEGER NOT NULL,      -- see `State`
    time INTEGER NOT NULL,
    door TEXT NOT NULL,
    client TEXT,
    session TEXT,
    message TEXT,
    undoes INTEGER,
    places TEXT NOT NULL         -- JSON: in which folder the temporary file of each step lies
) STRICT;
CREATE INDEX batch_undoes ON batch (undoes) WHERE undoes IS NOT NULL;

CREATE TABLE step (
    batch INTEGER NOT NULL,
    number INTEGER NOT NULL,     -- from 0, in the order of the plan
    kind INTEGER NOT NULL,       -- see `journal::encode`
    path TEXT,                   -- NULL once it is forgotten
    new_path TEXT,
    before INTEGER,              -- content before; NULL: nothing was there
    before_mode INTEGER,
    after INTEGER,
    after_mode INTEGER,
    device INTEGER,              -- of what is moved
    inode INTEGER,
    PRIMARY KEY (batch, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX step_path ON step (path);
CREATE INDEX step_new_path ON step (new_path);

-- The audit. hash = H(previous, seq, time, the plain columns, commitment); commitment = H(salt, payload).
CREATE TABLE entry (
    seq INTEGER PRIMARY KEY,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL,
    commitment BLOB NOT NULL,
    salt BLOB,                   -- NULL once it is forgotten, as the payload
    payload TEXT,                -- JSON: path, arguments, result
    batch INTEGER,
    time INTEGER NOT NULL,
    door TEXT NOT NULL,
    client TEXT,
    session TEXT,
    message TEXT,
    origin TEXT NOT NULL,        -- person, model, tool:NAME, import
    number INTEGER NOT NULL,     -- place among the calls, from 1
    action TEXT NOT NULL,
    code TEXT,                   -- NULL: it succeeded
    micros INTEGER NOT NULL,
    permission TEXT NOT NULL     -- off, claimed, approved, rule:NAME, refused
) STRICT;
CREATE INDEX entry_batch ON entry (batch);
