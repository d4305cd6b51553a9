package dev.holdfast.model.notice;

import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.wait.OpenWait;
import org.jspecify.annotations.Nullable;

/**
 * A question that a job has asked at one moment, and what has become of it.
 *
 * @param run the name of the job's run
 * @param state of the job
 * @param open the question; null if it is not asked any longer
 * @param end how it was answered; null if it was not, or was asked anew since
 */
public record AskedQuestion(
    JobId job,
    String kind,
    String queue,
    String tenant,
    String run,
    JobState state,
    @Nullable OpenWait open,
    @Nullable WaitEnd end) {}
