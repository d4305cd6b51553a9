package dev.holdfast.model.attempt;

import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The end of one attempt, as its worker reports it. */
public sealed interface Settlement {
  Lease lease();

  record Succeed(Lease lease, @Nullable Json result) implements Settlement {
    public Succeed {
      if (result != null) {
        Limits.result(result);
      }
    }
  }

  /**
   * The job succeeds, and another one continues its work with this payload: in one transaction, and
   * once, because its id follows from this one.
   */
  record Continue(Lease lease, Json payload) implements Settlement {
    public Continue {
      Limits.payload(payload);
    }

    public JobId successor() {
      return JobId.ofSuccessor(lease.job());
    }
  }

  /**
   * {@code retryAfter} matters only when the failure is retryable and budget is left; null leaves
   * it to the queue, which decides by {@link RetryDefaults}.
   */
  record Fail(Lease lease, Failure failure, @Nullable Duration retryAfter) implements Settlement {
    public Fail {
      if (retryAfter != null) {
        Limits.delay("retryAfter", retryAfter);
      }
    }
  }

  /** The handler stopped because it was asked to. */
  record Cancel(Lease lease, @Nullable Json partial) implements Settlement {
    public Cancel {
      if (partial != null) {
        Limits.result(partial);
      }
    }
  }

  /** Comes back later without using budget. */
  record Snooze(Lease lease, Duration delay) implements Settlement {
    public Snooze {
      Limits.delay("snooze", delay);
    }
  }

  /** Gives the job back unharmed, for another worker to claim at once. */
  record Release(Lease lease, boolean abortedByShutdown) implements Settlement {}
}
