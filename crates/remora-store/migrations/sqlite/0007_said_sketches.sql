-- The signs of what was said, once more and apart: a hook compares nothing else,
-- and most of what `sketches` holds was done. Filled from there after this: see
-- sqlite/vectors/said.rs.
CREATE TABLE said_sketches (
    block INTEGER PRIMARY KEY,
    project INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT;
CREATE INDEX said_sketches_project ON said_sketches (project, entries);
-- The block of `said_sketches` that an item has a second entry in.
ALTER TABLE vectors ADD COLUMN said INTEGER;
