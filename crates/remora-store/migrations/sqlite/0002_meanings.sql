-- What rows mean, as vectors of bytes: a scale, then a byte a dimension. Few
-- tables, because every reader reads the whole schema first.

-- By the static table; written with the row.
CREATE TABLE gists (
    item INTEGER PRIMARY KEY,
    v BLOB NOT NULL
) STRICT;

-- What made the vectors in `vectors`: one row, or none before the first.
CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
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
