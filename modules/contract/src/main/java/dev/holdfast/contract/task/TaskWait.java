package dev.holdfast.contract.task;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.model.wait.WaitSort;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The worker of a task waits for something. Whichever attempt asks for the same id again gets what
 * the wait has brought.
 *
 * @param version of the handler: a task that has none keeps it
 */
public record TaskWait(
    int attempt,
    @Nullable String attemptId,
    @JsonProperty("wait") For waitFor,
    @Nullable Integer version) {
  public TaskWait {
    Fields.attempt(attempt);
    Fields.version(version);
    Wire.present("wait", waitFor);
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

    public static For of(Wait asked) {
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

    public Wait toWait() {
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
      Question.@Nullable Decider role,
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
          role == null ? Question.Decider.OPERATOR : role,
          within,
          afterwards == null ? Question.Unanswered.REJECT : afterwards);
    }
  }

  /** What became of the attempt. */
  public enum Outcome {
    /** It goes on: what it would wait for is there. */
    OVER,
    /** It has ended; a later one goes on. */
    SUSPENDED
  }

  /**
   * What it is answered.
   *
   * @param end of the wait, if it is over
   * @param payload of the signal that has ended it
   */
  public record Answer(
      Outcome outcome, @Nullable WaitEnd end, @Nullable Json payload, Instant serverTime) {}
}
