package dev.holdfast.model.attempt;

import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Failure;
import org.jspecify.annotations.Nullable;

/**
 * What a worker gets about a job before it starts.
 *
 * @param failure of an earlier attempt
 */
public record Background(PendingCommand pendingCommand, @Nullable Failure failure) {
  public static final Background NONE = new Background(PendingCommand.NONE, null);
}
