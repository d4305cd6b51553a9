CREATE SCHEMA holdfast;
CREATE TABLE holdfast.x (id int PRIMARY KEY);
