package dev.holdfast.model;

/** Which PostgreSQL, and which of our schemas in it. */
public record DatabaseVersion(String server, int schema) {}
