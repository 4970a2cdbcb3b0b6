-- What rows mean, as vectors of bytes: a scale, then a byte a dimension.

-- By the static table; written with the row.
CREATE TABLE gists (
    item INTEGER PRIMARY KEY,
    v BLOB NOT NULL
) STRICT;

-- What made the vectors in `vectors`: one row, or none before the first.
CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- By the model; written later than the row. `block` is where its sketch is.
CREATE TABLE vectors (
    item INTEGER PRIMARY KEY,
    model INTEGER NOT NULL,
    block INTEGER,
    v BLOB NOT NULL
) STRICT;

-- The signs of the vectors, many to a row and a row to a page, so that all of a
-- project can be looked through: see sqlite/vectors/block.rs. `entries` says
-- how many are in use.
CREATE TABLE sketches (
    block INTEGER PRIMARY KEY,
    project INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT;
CREATE INDEX sketches_project ON sketches (project, entries);

-- Rows that the model has not seen.
CREATE TABLE unembedded (
    item INTEGER PRIMARY KEY
) STRICT;
INSERT INTO unembedded (item) SELECT id FROM items ORDER BY id;

-- Which rows hold a term anywhere in a long text; `words` knows the lead.
CREATE VIRTUAL TABLE full_words USING fts5 (
    terms,
    content = '',
    contentless_delete = 1,
    detail = none,
    tokenize = "ascii tokenchars '_'"
);

-- The words that were ever seen, and which of them have a half: see
-- sqlite/spelling.rs.
CREATE TABLE terms (
    id INTEGER PRIMARY KEY,
    term TEXT NOT NULL UNIQUE
) STRICT;
CREATE VIRTUAL TABLE spellings USING fts5 (
    halves,
    content = '',
    columnsize = 0,
    detail = none,
    tokenize = "ascii tokenchars '_'"
);
