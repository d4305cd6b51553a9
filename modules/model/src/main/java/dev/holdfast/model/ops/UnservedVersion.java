package dev.holdfast.model.ops;

import java.time.Instant;

/**
 * A version of a kind that jobs of a queue have begun with, and that no live worker has.
 *
 * @param jobs how many have begun with it and have not ended
 * @param since when a worker last had it, as far as it is known
 */
public record UnservedVersion(String queue, String kind, int version, long jobs, Instant since) {}
