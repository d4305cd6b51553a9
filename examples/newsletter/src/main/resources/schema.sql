CREATE TABLE IF NOT EXISTS issue (id uuid PRIMARY KEY, subject text NOT NULL);
