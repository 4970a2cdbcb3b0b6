-- What users said of items: pinned, rejected, edited. By uid, because it
-- outlives the row: see sqlite/overrides.rs.
CREATE TABLE overrides (
    uid TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    statement TEXT NOT NULL,
    pinned INTEGER,
    rejected TEXT,
    edit TEXT
) STRICT, WITHOUT ROWID;
