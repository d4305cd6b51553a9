package dev.holdfast.model.attempt;

import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Failure;
import org.jspecify.annotations.Nullable;

/**
 * What a worker should know of a job before it begins.
 *
 * @param failure why an attempt before this one failed
 */
public record Background(PendingCommand control, @Nullable Failure failure) {
  public static final Background NONE = new Background(PendingCommand.NONE, null);
}
