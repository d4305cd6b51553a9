package dev.holdfast.model.wait;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What a handler waits for. Its id is one of the ids of steps: what the wait has brought is kept
 * under it, and a later attempt that asks for the same id gets it from there.
 */
public sealed interface Wait {
  String id();

  WaitSort sort();

  /** How long it lasts at most; null without a bound, and where a moment is given instead. */
  @Nullable Duration within();

  /** With what people are to read scrubbed of secrets. */
  default Wait scrubbed(UnaryOperator<String> scrub) {
    return switch (this) {
      case ForApproval(var id, var question) -> new ForApproval(id, question.scrubbed(scrub));
      case Sleep sleep -> sleep;
      case SleepUntil sleep -> sleep;
      case ForSignal signal -> signal;
      case ForChildren children -> children;
    };
  }

  /** Until a time has passed. */
  record Sleep(String id, Duration within) implements Wait {
    public Sleep {
      Limits.stepId(id);
      Limits.delay("sleep '" + id + "'", within);
    }

    @Override
    public WaitSort sort() {
      return WaitSort.SLEEP;
    }
  }

  /** Until a moment, by the database's clock; one that has passed is no wait. */
  record SleepUntil(String id, Instant until) implements Wait {
    private static final Instant FIRST = Instant.parse("1970-01-01T00:00:00Z");
    private static final Instant LAST = Instant.parse("9999-12-31T00:00:00Z");

    public SleepUntil {
      Limits.stepId(id);
      if (until.isBefore(FIRST) || until.isAfter(LAST)) {
        throw new RefusedException(
            Refusal.BAD_TIMING,
            "sleep '" + id + "' until " + until + " must be between 1970 and 9999");
      }
    }

    @Override
    public WaitSort sort() {
      return WaitSort.SLEEP;
    }

    @Override
    public @Nullable Duration within() {
      return null;
    }
  }

  /** Until a signal of this name is there that no earlier wait has taken. */
  record ForSignal(String id, String name, @Nullable Duration within) implements Wait {
    public ForSignal {
      Limits.stepId(id);
      SignalToJob.name(name);
      bounded(id, within);
    }

    @Override
    public WaitSort sort() {
      return WaitSort.SIGNAL;
    }
  }

  /** Until somebody has decided. */
  record ForApproval(String id, Question question) implements Wait {
    public ForApproval {
      Limits.stepId(id);
    }

    @Override
    public WaitSort sort() {
      return WaitSort.APPROVAL;
    }

    @Override
    public @Nullable Duration within() {
      return question.within();
    }
  }

  /**
   * Until jobs that this one has started have ended.
   *
   * @param started the ids under which they were started
   * @param any until the first of them has ended, in place of all
   * @param failFast until the first of them has not succeeded, which then cancels the others
   */
  record ForChildren(
      String id, List<String> started, boolean any, boolean failFast, @Nullable Duration within)
      implements Wait {
    public ForChildren {
      Limits.stepId(id);
      started = List.copyOf(started);
      started.forEach(Limits::stepId);
      if (started.isEmpty() || started.size() > Limits.STEPS) {
        throw new RefusedException(
            Refusal.BAD_LIMIT,
            "wait '%s' must be for 1 to %,d ids under which jobs were started"
                .formatted(id, Limits.STEPS));
      }
      bounded(id, within);
    }

    @Override
    public WaitSort sort() {
      return WaitSort.CHILDREN;
    }
  }

  private static void bounded(String id, @Nullable Duration within) {
    if (within != null) {
      Limits.delay("timeout of '" + id + "'", within);
    }
  }
}
