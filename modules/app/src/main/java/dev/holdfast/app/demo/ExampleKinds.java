package dev.holdfast.app.demo;

import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.handler.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Kinds to play with: what 'holdfast dev' runs before there is a handler of your own. */
public final class ExampleKinds {
  private static final double MOST_SECONDS = 3_600;
  private static final int NAPS_A_SECOND = 10;
  private static final RetryPolicy QUICK =
      new RetryPolicy(Duration.ofSeconds(1), 2, Duration.ofSeconds(10));

  private ExampleKinds() {}

  record Sleep(@Nullable Double seconds) {}

  record Fail(@Nullable String message, @Nullable FailureCategory category) {}

  record Flaky(@Nullable Integer failures) {}

  public static List<Kind<?>> all() {
    return List.of(
        Kind.of("echo", Json.class, (payload, context) -> payload),
        Kind.of(
            "sleep",
            Sleep.class,
            (sleep, context) -> {
              double seconds = Math.clamp(orElse(sleep.seconds(), 5.0), 0, MOST_SECONDS);
              long start = System.nanoTime();
              int naps = (int) Math.clamp(seconds * NAPS_A_SECOND, 1, 100);
              for (int nap = 0; nap < naps; nap++) {
                context.checkCancelled();
                context.progress(100 * nap / naps, "asleep");
                long due = start + (long) (seconds * 1e9 * (nap + 1) / naps);
                Thread.sleep(Duration.ofNanos(Math.max(0, due - System.nanoTime())));
              }
              context.progress(100, "awake");
              return Map.of("slept", seconds);
            }),
        Kind.of(
                "fail",
                Fail.class,
                (fail, context) -> {
                  throw new FailedException(
                      Failure.of(
                          orElse(fail.category(), FailureCategory.USER_CODE),
                          "EXAMPLE",
                          orElse(fail.message(), "this kind always fails")));
                })
            .retry(QUICK),
        Kind.of(
                "flaky",
                Flaky.class,
                (flaky, context) -> {
                  int attempt = context.lease().attempt();
                  if (attempt <= orElse(flaky.failures(), 1)) {
                    throw FailedException.of(
                        FailureCategory.INFRASTRUCTURE, "EXAMPLE", "attempt " + attempt + " fails");
                  }
                  return Map.of("attempt", attempt);
                })
            .retry(QUICK));
  }

  private static <T> T orElse(@Nullable T value, T fallback) {
    return value == null ? fallback : value;
  }
}
