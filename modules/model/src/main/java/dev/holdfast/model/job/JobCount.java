package dev.holdfast.model.job;

/**
 * The number of jobs that match a filter.
 *
 * @param more whether there may be more: counting stopped at a limit
 */
public record JobCount(long count, boolean more) {}
