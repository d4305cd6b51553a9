-- What the programs of jobs printed: the last pieces of it, to be read while they run and after.
-- Only the last piece of a job is ever written again, so that a line costs no more than a piece.

CREATE TABLE holdfast.log (
  job_id  uuid    NOT NULL REFERENCES holdfast.job ON DELETE CASCADE,
  attempt integer NOT NULL,
  piece   integer NOT NULL,
  text    text    NOT NULL,
  PRIMARY KEY (job_id, attempt, piece),
  CONSTRAINT log_piece_bounded CHECK (char_length(text) <= 4096)
);
