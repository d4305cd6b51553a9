package dev.holdfast.contract.lease;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.model.wait.WaitEnd;
import dev.holdfast.model.wait.WaitSort;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Asks that an attempt end because its handler waits for something, unless that is there already.
 *
 * @param workerId who holds the attempt
 * @param index of the wait among the steps of the task
 */
public record LeaseSuspend(
    JobId taskId, int attempt, String workerId, int index, @JsonProperty("wait") For waitFor) {
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
        For.of(suspension.asked()));
  }

  public Suspension suspension() {
    return new Suspension(new Lease(taskId, attempt), index, waitFor.toWait());
  }

  /**
   * What it waits for.
   *
   * @param withinMs how long at most, and for SLEEP how long
   * @param until for SLEEP, in place of a time
   * @param signal its name, for SIGNAL
   * @param question for APPROVAL
   * @param started the ids under which the jobs were started, for CHILDREN
   * @param any until the first of them has ended
   * @param failFast until the first of them has not succeeded, which cancels the others
   */
  public record For(
      String id,
      WaitSort sort,
      @Nullable Long withinMs,
      @Nullable Instant until,
      @Nullable String signal,
      @Nullable Ask question,
      @Nullable List<String> started,
      @Nullable Boolean any,
      @Nullable Boolean failFast) {
    public For {
      Wire.present("id", id);
      Wire.present("sort", sort);
      started = started == null ? null : List.copyOf(started);
    }

    static For of(Wait asked) {
      Duration within = asked.within();
      Long withinMs = within == null ? null : within.toMillis();
      return switch (asked) {
        case Wait.Sleep(var id, var time) ->
            new For(id, asked.sort(), withinMs, null, null, null, null, null, null);
        case Wait.SleepUntil(var id, var until) ->
            new For(id, asked.sort(), null, until, null, null, null, null, null);
        case Wait.ForSignal(var id, var name, var most) ->
            new For(id, asked.sort(), withinMs, null, name, null, null, null, null);
        case Wait.ForApproval(var id, var question) ->
            new For(id, asked.sort(), withinMs, null, null, Ask.of(question), null, null, null);
        case Wait.ForChildren(var id, var started, var any, var failFast, var most) ->
            new For(id, asked.sort(), withinMs, null, null, null, started, any, failFast);
      };
    }

    Wait toWait() {
      Duration within = withinMs == null ? null : Duration.ofMillis(withinMs);
      return switch (sort) {
        case SLEEP ->
            until == null
                ? new Wait.Sleep(id, Wire.present("withinMs", within))
                : new Wait.SleepUntil(id, until);
        case SIGNAL -> new Wait.ForSignal(id, Wire.present("signal", signal), within);
        case APPROVAL ->
            new Wait.ForApproval(id, Wire.present("question", question).question(within));
        case CHILDREN ->
            new Wait.ForChildren(
                id,
                Wire.present("started", started),
                Boolean.TRUE.equals(any),
                Boolean.TRUE.equals(failFast),
                within);
      };
    }
  }

  /**
   * What a person is asked.
   *
   * @param role who may decide
   * @param afterwards what happens when nobody has decided in time
   */
  public record Ask(
      String text,
      @Nullable String details,
      @Nullable Role role,
      Question.@Nullable Unanswered afterwards) {
    public Ask {
      Wire.present("text", text);
    }

    static Ask of(Question question) {
      return new Ask(question.text(), question.details(), question.role(), question.afterwards());
    }

    Question question(@Nullable Duration within) {
      return new Question(
          text,
          details == null ? "" : details,
          role == null ? Role.OPERATOR : role,
          within,
          afterwards == null ? Question.Unanswered.REJECT : afterwards);
    }
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
