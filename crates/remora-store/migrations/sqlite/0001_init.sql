-- Strings that many rows share: projects, sessions, agents, branches, tools,
-- speakers, subagents and event names.
CREATE TABLE names (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- What was told of a project, and how much of it is in the index (for the
-- weight of its words). A project that only items mention has no `label`.
CREATE TABLE projects (
    id INTEGER PRIMARY KEY REFERENCES names (id),
    label TEXT,
    root TEXT,
    items INTEGER NOT NULL DEFAULT 0,
    words INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY REFERENCES names (id),
    agent INTEGER NOT NULL REFERENCES names (id),
    project INTEGER NOT NULL REFERENCES names (id),
    cwd TEXT NOT NULL,
    branch TEXT,
    started INTEGER NOT NULL,
    last INTEGER NOT NULL,
    end_reason TEXT,
    prompts INTEGER NOT NULL,
    title TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_last ON sessions (last);

-- The ledger. Ids that are UUIDs are blobs of 16 bytes, others text.
CREATE TABLE events (
    n INTEGER PRIMARY KEY,
    id ANY NOT NULL UNIQUE,
    call ANY,
    name INTEGER NOT NULL REFERENCES names (id),
    session INTEGER NOT NULL REFERENCES names (id),
    time INTEGER NOT NULL,
    label TEXT
) STRICT;
CREATE UNIQUE INDEX events_call ON events (call) WHERE call IS NOT NULL;
CREATE INDEX events_time ON events (time);

-- Every kind of item. What filters and ranking read stands before the long
-- columns, so that they are never loaded for rows that do not qualify.
--   uid    as in `events`, with the number after the `/` behind the 16 bytes
--   vec    how much each word weighs here: see sqlite/weigh.rs
--   lists  facts and concepts as JSON, files as numbers of `paths`
-- Vectors come later as a table of their own, (item INTEGER PRIMARY KEY,
-- model INTEGER, v BLOB); words of neighbouring rows need no column, because
-- `vec` of the neighbours can be read when a row is ranked.
CREATE TABLE items (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind INTEGER NOT NULL,
    project INTEGER NOT NULL,
    session INTEGER NOT NULL,
    agent INTEGER NOT NULL,
    time INTEGER NOT NULL,
    vec BLOB NOT NULL,
    uid ANY NOT NULL UNIQUE,
    external TEXT,
    key TEXT,
    last_time INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    prompt INTEGER,
    branch INTEGER,
    subagent INTEGER,
    speaker INTEGER,
    tool INTEGER,
    tool_use_id TEXT,
    raw_tokens INTEGER NOT NULL,
    digest_tokens INTEGER NOT NULL,
    title TEXT NOT NULL,
    lists TEXT,
    detail TEXT,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX items_project ON items (project, kind, time);
CREATE INDEX items_time ON items (time, kind);
CREATE INDEX items_session ON items (session);
CREATE UNIQUE INDEX items_key ON items (project, kind, key) WHERE key IS NOT NULL;
CREATE INDEX items_external ON items (external) WHERE external IS NOT NULL;

-- How many items there are of each kind.
CREATE TABLE kinds (
    kind INTEGER PRIMARY KEY,
    items INTEGER NOT NULL
) STRICT;

CREATE TABLE paths (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE item_files (
    path INTEGER NOT NULL,
    item INTEGER NOT NULL,
    PRIMARY KEY (path, item)
) STRICT, WITHOUT ROWID;

CREATE TABLE folder_files (
    project INTEGER NOT NULL,
    folder TEXT NOT NULL,
    name TEXT NOT NULL,
    holds TEXT NOT NULL,
    state INTEGER NOT NULL,
    origin TEXT,
    session INTEGER NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (project, folder, name)
) STRICT, WITHOUT ROWID;

-- Which rows hold a term, and nothing else: weights are in `items.vec`. The
-- text that is indexed is terms separated by spaces already; every character
-- that can be in a term is one that the tokenizer keeps.
CREATE VIRTUAL TABLE words USING fts5 (
    terms,
    content = '',
    contentless_delete = 1,
    detail = none,
    tokenize = "ascii tokenchars '_'"
);
