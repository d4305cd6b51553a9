package dev.holdfast.contract.lease;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.task.TaskWait;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import org.jspecify.annotations.Nullable;

/**
 * Asks that an attempt end because its handler waits for something, unless that is there already.
 *
 * @param workerId who holds the attempt
 * @param index of the wait among the steps of the task
 */
public record LeaseSuspend(
    JobId taskId,
    int attempt,
    String workerId,
    int index,
    @JsonProperty("wait") TaskWait.For waitFor) {
  public LeaseSuspend {
    Wire.present("taskId", taskId);
    Fields.attempt(attempt);
    Fields.worker(workerId);
    Wire.present("wait", waitFor);
    if (index < 1 || index > Limits.STEPS) {
      throw Fields.wrong("index", "must be 1 to %,d".formatted(Limits.STEPS));
    }
  }

  public static LeaseSuspend of(Suspension suspension, String worker) {
    return new LeaseSuspend(
        suspension.lease().job(),
        suspension.lease().attempt(),
        worker,
        suspension.index(),
        TaskWait.For.of(suspension.asked()));
  }

  public Suspension suspension() {
    return new Suspension(new Lease(taskId, attempt), index, waitFor.toWait());
  }

  /**
   * What it is answered.
   *
   * @param end of the wait, if it is over
   * @param payload of the signal that has ended it
   */
  public record Answer(Outcome outcome, @Nullable WaitEnd end, @Nullable Json payload) {
    /** What became of the attempt. */
    public enum Outcome {
      /** It goes on: what it would wait for is there. */
      OVER,
      /** It has ended; a later one goes on. */
      SUSPENDED,
      LEASE_LOST
    }

    public Answer {
      Wire.present("outcome", outcome);
    }

    public static Answer of(WaitAnswer answer) {
      return switch (answer) {
        case WaitAnswer.Over(var end, var payload) -> new Answer(Outcome.OVER, end, payload);
        case WaitAnswer.Suspended() -> new Answer(Outcome.SUSPENDED, null, null);
        case WaitAnswer.LeaseLost() -> new Answer(Outcome.LEASE_LOST, null, null);
      };
    }

    public WaitAnswer answer() {
      return switch (outcome) {
        case OVER -> new WaitAnswer.Over(Wire.present("end", end), payload);
        case SUSPENDED -> WaitAnswer.SUSPENDED;
        case LEASE_LOST -> WaitAnswer.LEASE_LOST;
      };
    }
  }
}
