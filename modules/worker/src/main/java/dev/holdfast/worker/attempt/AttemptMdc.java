package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.LeasedJob;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Names the attempt in every log line of its threads, by SLF4J's mapped diagnostic context: {@code
 * %X{holdfast.job}} in a pattern of Logback.
 */
public final class AttemptMdc {
  public static final String JOB = "holdfast.job";
  public static final String ATTEMPT = "holdfast.attempt";
  public static final String KIND = "holdfast.kind";

  private AttemptMdc() {}

  public static void run(LeasedJob job, Runnable attempt) {
    MDC.put(JOB, job.id().toString());
    MDC.put(ATTEMPT, String.valueOf(job.lease().attempt()));
    MDC.put(KIND, job.kind());
    try {
      attempt.run();
    } finally {
      // Threads are used again, and a handler may have left values of its own.
      MDC.clear();
    }
  }

  /** To be called on another thread, which gets the values that this thread has now. */
  static <T extends @Nullable Object> Callable<T> carried(Callable<T> body) {
    Map<String, String> here = MDC.getCopyOfContextMap();
    if (here == null || here.isEmpty()) {
      return body;
    }
    return () -> {
      MDC.setContextMap(here);
      try {
        return body.call();
      } finally {
        MDC.clear();
      }
    };
  }
}
