package dev.holdfast.model.job;

/**
 * The answer to an enqueue.
 *
 * @param id the job that stands for the request
 * @param duplicate true when that is another job, which holds the unique key
 */
public record Enqueued(JobId id, boolean duplicate) {}
