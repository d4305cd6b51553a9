package dev.holdfast.model.ops;

/**
 * A kind of a queue whose jobs no live worker handles.
 *
 * @param jobs how many of them a worker has claimed and left for others
 */
public record UnhandledKind(String queue, String kind, long jobs) {}
