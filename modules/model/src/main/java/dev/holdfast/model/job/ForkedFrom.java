package dev.holdfast.model.job;

/**
 * Of which job another one is a fork.
 *
 * @param stepId of the step from which on the fork does again what the job has done
 */
public record ForkedFrom(JobId jobId, String stepId) {}
