package dev.holdfast.model.attempt;

import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Failure;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a worker gets about a job before it starts.
 *
 * @param failure of an earlier attempt
 * @param deadline of the job, as it was enqueued
 */
public record Background(
    PendingCommand pendingCommand, @Nullable Failure failure, @Nullable Instant deadline) {
  public static final Background NONE = new Background(PendingCommand.NONE, null, null);
}
