package dev.holdfast.model.ops;

/**
 * Counts of jobs that an operator should look at.
 *
 * @param failed jobs that ended FAILED within the last hour
 * @param toxic those among them that crashed their workers too often
 * @param overdue running jobs whose lease expired long ago and that no reaper has requeued
 */
public record Warnings(long failed, long toxic, long overdue) {}
