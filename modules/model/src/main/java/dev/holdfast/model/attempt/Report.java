package dev.holdfast.model.attempt;

import dev.holdfast.model.job.EventType;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A report of a running attempt: an entry of the timeline, fenced like every write. */
public sealed interface Report {
  Lease lease();

  /**
   * The progress of the attempt.
   *
   * @param percent null when only the message is new
   */
  record Progress(Lease lease, @Nullable Integer percent, @Nullable String message)
      implements Report {
    public Progress {
      if (percent != null && (percent < 0 || percent > 100)) {
        throw new RefusedException(
            Refusal.BAD_PROGRESS, "progress " + percent + " must be between 0 and 100");
      }
      message = message == null ? null : Text.excerpt(message, Limits.PROGRESS_MESSAGE_CHARS);
    }
  }

  /** An event for the timeline: the handler's, or one that only its worker can know of. */
  record Event(Lease lease, String type, Json data) implements Report {
    public Event {
      if (!EventType.ofWorker(type)) {
        EventType.ofHandler(type);
      }
      Limits.eventData(data);
    }
  }

  /**
   * A step has started, failed or finished: its row and its events, written together. A report that
   * is sent twice takes effect once. An attempt that has succeeded soon needs one report only:
   * {@link #wasShort}.
   *
   * @param checkpoint of a step that is done
   * @param patch the changes in its workspace, of a step that is done and has one
   * @param discardFromIndex the checkpoints of this step index and all after it are deleted
   * @param handledCommand the time of the operator's command that this carries out
   * @param took how long the attempt has run, where its start was not reported
   */
  record Step(
      Lease lease,
      String stepId,
      int index,
      StepState state,
      int attempt,
      boolean reset,
      @Nullable Json checkpoint,
      @Nullable Patch patch,
      @Nullable Integer discardFromIndex,
      @Nullable Instant handledCommand,
      List<Entry> events,
      @Nullable Duration took)
      implements Report {
    public Step {
      Limits.stepId(stepId);
      if (index < 1 || attempt < 1) {
        throw new RefusedException(Refusal.BAD_LIMIT, "steps and attempts are counted from 1");
      }
      if (checkpoint != null) {
        Limits.result(checkpoint);
      }
      if (took != null && (took.isNegative() || state == StepState.RUNNING)) {
        throw new RefusedException(
            Refusal.BAD_LIMIT, "an attempt has taken some time only when it has ended");
      }
      events = List.copyOf(events);
    }

    /** Of an attempt whose start was reported. */
    public Step(
        Lease lease,
        String stepId,
        int index,
        StepState state,
        int attempt,
        boolean reset,
        @Nullable Json checkpoint,
        @Nullable Patch patch,
        @Nullable Integer discardFromIndex,
        @Nullable Instant handledCommand,
        List<Entry> events) {
      this(
          lease,
          stepId,
          index,
          state,
          attempt,
          reset,
          checkpoint,
          patch,
          discardFromIndex,
          handledCommand,
          events,
          null);
    }

    /**
     * The only report of a step: the timeline says from its row when it began and when it ended.
     */
    public static Step done(
        Lease lease,
        String stepId,
        int index,
        int attempt,
        @Nullable Json checkpoint,
        Duration took) {
      return new Step(
          lease,
          stepId,
          index,
          StepState.DONE,
          attempt,
          false,
          checkpoint,
          null,
          null,
          null,
          List.of(),
          took);
    }

    /** Whether all there is to say is that it began and is done. */
    public boolean wasShort() {
      return state == StepState.DONE
          && took != null
          && events.isEmpty()
          && !reset
          && patch == null
          && discardFromIndex == null
          && handledCommand == null;
    }

    public Step telling(List<Entry> entries) {
      return new Step(
          lease,
          stepId,
          index,
          state,
          attempt,
          reset,
          checkpoint,
          patch,
          discardFromIndex,
          handledCommand,
          entries,
          took);
    }
  }

  /**
   * A piece of the output of the attempt's programs, as far as it was printed. A longer version of
   * the same piece replaces the earlier one; the same version again changes nothing.
   *
   * @param piece counted from 1 in this attempt
   */
  record Log(Lease lease, int piece, String text) implements Report {
    public Log {
      if (piece < 1 || text.isEmpty() || text.length() > Limits.LOG_PIECE_CHARS) {
        throw new RefusedException(
            Refusal.BAD_LIMIT,
            "a piece of log is counted from 1 and has 1 to %,d characters"
                .formatted(Limits.LOG_PIECE_CHARS));
      }
      text = Text.inert(text);
    }
  }

  /**
   * The version of the handler that is about to begin something: from now on the job is claimed by
   * workers that have this version. One that has a version keeps it.
   */
  record Version(Lease lease, int version) implements Report {
    public Version {
      KindVersion.check(version);
    }
  }

  /** An entry of the timeline that comes with a step. */
  record Entry(String type, Json data) {
    public Entry {
      if (!Limits.word("event type", type).startsWith(EventType.TASK)) {
        throw new RefusedException(Refusal.BAD_NAME, "event type '" + type + "' is not of a step");
      }
      Limits.eventData(data);
    }
  }
}
