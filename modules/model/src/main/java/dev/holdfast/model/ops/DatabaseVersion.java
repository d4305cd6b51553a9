package dev.holdfast.model.ops;

/** Which PostgreSQL, and which of our schemas in it. */
public record DatabaseVersion(String server, int schema) {}
