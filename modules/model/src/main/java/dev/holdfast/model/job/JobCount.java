package dev.holdfast.model.job;

/**
 * How many jobs a filter takes in.
 *
 * @param more that there are, or may be, more: it was not counted any further
 */
public record JobCount(long jobs, boolean more) {}
