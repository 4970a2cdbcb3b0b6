-- What files were like when they were last heard of: bytes, time of writing in
-- nanoseconds, hash of the contents, and since when they hold this.
ALTER TABLE folder_files ADD COLUMN size INTEGER;
ALTER TABLE folder_files ADD COLUMN modified INTEGER;
ALTER TABLE folder_files ADD COLUMN hash INTEGER;
ALTER TABLE folder_files ADD COLUMN since INTEGER;

-- What sessions were given from memory, why, and whether it was of use.
CREATE TABLE given (
    session INTEGER NOT NULL,
    line INTEGER NOT NULL,
    item TEXT NOT NULL,
    subagent TEXT,
    moment TEXT NOT NULL,
    why TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    time INTEGER NOT NULL,
    used TEXT,
    used_time INTEGER,
    PRIMARY KEY (session, line)
) STRICT, WITHOUT ROWID;
