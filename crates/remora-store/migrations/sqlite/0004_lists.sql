-- The rows of a file by project, kind and time, so that the newest of a kind
-- are found without reading all rows of the file.
CREATE TABLE file_items (
    path INTEGER NOT NULL,
    project INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    time INTEGER NOT NULL,
    item INTEGER NOT NULL,
    PRIMARY KEY (path, project, kind, time, item)
) STRICT, WITHOUT ROWID;
INSERT INTO file_items (path, project, kind, time, item)
    SELECT f.path, i.project, i.kind, i.time, i.id
    FROM item_files f JOIN items i ON i.id = f.item;
DROP TABLE item_files;
ALTER TABLE file_items RENAME TO item_files;

-- The words are listed anew after this: see sqlite/lists.rs.
INSERT INTO words (words) VALUES ('delete-all');
