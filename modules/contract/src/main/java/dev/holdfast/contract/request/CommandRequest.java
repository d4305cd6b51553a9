package dev.holdfast.contract.request;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.value.Limits;
import org.jspecify.annotations.Nullable;

/** A command to a job: the action, the step it is for, and the reason. */
public record CommandRequest(String action, @Nullable String stepId, @Nullable String reason) {
  public CommandRequest {
    Wire.present("action", action);
    if (stepId != null) {
      Limits.stepId(stepId);
    }
    if (reason != null) {
      Limits.reason(reason);
    }
  }

  public CommandAction commandAction() {
    return CommandAction.of(action);
  }
}
