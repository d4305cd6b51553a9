package dev.holdfast.contract.request;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.WireException;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What to change about a job that waits. Fields that are absent stay as they are.
 *
 * @param payload in place of the one it has
 */
public record JobPatch(
    @Nullable Integer priority,
    @Nullable Long delayMs,
    @Nullable Instant runAt,
    @Nullable Json payload) {
  public JobPatch {
    if (delayMs != null && runAt != null) {
      throw Fields.wrong("runAt", "and 'delayMs' cannot both be given");
    }
    if (priority == null && delayMs == null && runAt == null && payload == null) {
      throw new WireException(
          WireException.Kind.WRONG_VALUE,
          "one of 'priority', 'delayMs', 'runAt' and 'payload' must be given");
    }
  }

  /** Of an edit whose payload, if it has one, is JSON already. */
  public static JobPatch of(JobEdit edit) {
    Object payload = edit.payload();
    Duration delay = edit.delay();
    return new JobPatch(
        edit.priority(),
        delay == null ? null : Long.valueOf(delay.toMillis()),
        edit.runAt(),
        payload == null ? null : JobRequests.checked(payload));
  }

  public JobEdit edit() {
    return new JobEdit(
        priority, delayMs == null ? null : Duration.ofMillis(delayMs), runAt, payload);
  }
}
