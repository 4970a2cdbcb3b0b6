-- Prompts are among the rows that recall looks at, so they have a list of their
-- own. The words of all items are listed anew after this: see sqlite/lists.rs.
INSERT INTO words (words) VALUES ('delete-all');
