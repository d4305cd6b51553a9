package dev.holdfast.model.job;

/**
 * The answer to an enqueue.
 *
 * @param id the job that was enqueued or found
 * @param duplicate true when that is an earlier job that holds the unique key
 */
public record Enqueued(JobId id, boolean duplicate) {}
