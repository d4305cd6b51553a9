package dev.holdfast.worker.handler;

import dev.holdfast.model.job.JobId;

/**
 * A job that a handler has started, to wait for.
 *
 * @param startedAs the id under which it was started
 */
public record Child(JobId id, String startedAs) {}
