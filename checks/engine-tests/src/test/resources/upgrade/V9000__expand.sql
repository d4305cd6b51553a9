-- Stands for the next migration in tests: it only adds, so that workers of the version before can go on.
ALTER TABLE holdfast.job ADD COLUMN added_later text;
CREATE TABLE holdfast.added_later (id integer PRIMARY KEY);
CREATE INDEX job_added_later ON holdfast.job (added_later) WHERE added_later IS NOT NULL;
INSERT INTO holdfast.schema_version (version) VALUES (9000);
