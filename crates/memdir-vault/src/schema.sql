-- Version 1 of the history. Times are microseconds since 1970 in UTC, digests 32 bytes.
--
-- SQLite keeps these statements as they stand here and reads them at each start of a process, so what explains a column
-- stands above its table, and an index holds only rows that somebody looks for. They are compared with those of a history that is
-- opened: a change of a statement, even of a blank, takes another version, and an upgrade that leaves exactly this text.
CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;

-- Each content once. id: never given twice, see `contents::store`. A row dies whole when it is pruned or forgotten, its digest with it.
-- size: bytes of the content; packed: 1 when body is zstd; batch: the newest batch that refers to it.
CREATE TABLE content (
id INTEGER PRIMARY KEY,
digest BLOB NOT NULL UNIQUE,
size INTEGER NOT NULL,
packed INTEGER NOT NULL,
body BLOB NOT NULL,
batch INTEGER NOT NULL
) STRICT;
CREATE INDEX content_batch ON content (batch);

-- No row is ever deleted, so a number is never given twice.
-- state: see `State`; places: JSON, in which folder the temporary file of each step lies.
CREATE TABLE batch (
id INTEGER PRIMARY KEY,
state INTEGER NOT NULL,
time INTEGER NOT NULL,
door TEXT NOT NULL,
client TEXT,
session TEXT,
message TEXT,
undoes INTEGER,
places TEXT NOT NULL
) STRICT;
CREATE INDEX batch_undoes ON batch (undoes) WHERE undoes IS NOT NULL;

-- number: from 0, in the order of the plan; kind: see `journal::encode`; path: NULL once it is forgotten;
-- before, after: contents, NULL where nothing was there; device and inode: of what is moved.
CREATE TABLE step (
batch INTEGER NOT NULL,
number INTEGER NOT NULL,
kind INTEGER NOT NULL,
path TEXT,
new_path TEXT,
before INTEGER,
before_mode INTEGER,
after INTEGER,
after_mode INTEGER,
device INTEGER,
inode INTEGER,
PRIMARY KEY (batch, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX step_path ON step (path);
CREATE INDEX step_new_path ON step (new_path) WHERE new_path IS NOT NULL;

-- The audit. hash = H(previous, seq, time, the plain columns, commitment); commitment = H(salt, payload).
-- salt, payload: NULL once they are forgotten, JSON of path, arguments, result; origin: person, model, program, tool:NAME, import;
-- door, client, session, message: those of the batch, also where there is none; message: a number or a name; its words are in the payload; micros: how long the call took; action: its name, or what memdir
-- did itself (undo, approve, forget, relink, given_back …);
-- number: place among the calls, from 1; code: NULL when it succeeded; permission: off, claimed, approved, rule:NAME, refused;
-- of a call of another server's tool, permission: allowed, approved, approved_for_conversation, refused, denied; code: sent in the
-- entry before it is sent; number: the seq of that entry in the entry of what became of it, and else 0.
CREATE TABLE entry (
seq INTEGER PRIMARY KEY,
previous BLOB NOT NULL,
hash BLOB NOT NULL,
commitment BLOB NOT NULL,
salt BLOB,
payload TEXT,
batch INTEGER,
time INTEGER NOT NULL,
door TEXT NOT NULL,
client TEXT,
session TEXT,
message TEXT,
origin TEXT NOT NULL,
number INTEGER NOT NULL,
action TEXT NOT NULL,
code TEXT,
micros INTEGER NOT NULL,
permission TEXT NOT NULL
) STRICT;
CREATE INDEX entry_batch ON entry (batch) WHERE batch IS NOT NULL;
