package dev.holdfast.model.ops;

/**
 * What an operator should look at.
 *
 * @param failed jobs that ended FAILED within the last hour
 * @param toxic those among them whose workers died too often
 * @param overdue running jobs whose lease ran out a good while ago, and that nobody took back
 */
public record Warnings(long failed, long toxic, long overdue) {}
