package dev.holdfast.sdk;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.holdfast.Holdfast;
import dev.holdfast.client.worker.HttpSource;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.JobContext;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * The worker program of the Java library over HTTP, as the conformance kit starts it. What each
 * kind does is described in {@code sdk/conformance/README.md}.
 */
public final class ConformanceWorker {
  /** That of the kit's server: a worker's own grace period decides about its jobs. */
  private static final Duration CANCEL_GRACE = Duration.ofSeconds(6);

  private static final long SHOWN_MILLIS = 2_500;
  private static final long A_MINUTE = 60_000;

  private record Span(long ms, @Nullable Long later) {
    long millis(JobContext context) {
      return attempt(context) == 1 || later == null ? ms : later;
    }
  }

  private record Fail(
      FailureCategory category,
      String code,
      String message,
      @Nullable Long retryAfterMs,
      int until) {}

  private record Progress(int percent, String message, List<String> lines) {}

  private record Large(int bytes) {}

  private record Steps(List<String> steps, @Nullable String stopIn) {}

  private record StepResult(String step, int attempt) {}

  private ConformanceWorker() {}

  public static void main(String[] arguments) throws InterruptedException {
    ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.INFO);
    HttpSource source = HttpSource.to(URI.create(given("URL")), given("KEY"));
    Worker worker = start(source);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  worker.close();
                  source.close();
                  // After SIGTERM the JVM would exit with 143.
                  Runtime.getRuntime().halt(0);
                }));
    System.out.println("ready");
    // The threads of a worker do not keep a JVM alive. It ends by a signal.
    new CountDownLatch(1).await();
  }

  private static Worker start(HttpSource source) {
    Duration lease = millis("LEASE_MS");
    return Holdfast.worker(source, given("QUEUE"))
        .concurrency(Integer.parseInt(given("CONCURRENCY")))
        .shutdownTimeout(millis("SHUTDOWN_MS"))
        .timings(new Timings(lease.dividedBy(3), lease, Duration.ZERO, CANCEL_GRACE))
        .handle("noop", Json.class, (payload, context) -> null)
        .handle("echo", Json.class, ConformanceWorker::echo)
        .handle("sleep", Span.class, ConformanceWorker::sleep)
        .handle("block", Span.class, ConformanceWorker::block)
        .handle("fail", Fail.class, ConformanceWorker::fail)
        .handle("progress", Progress.class, ConformanceWorker::progress)
        .handle("large", Large.class, (large, context) -> "x".repeat(large.bytes()))
        .handle("steps", Steps.class, ConformanceWorker::steps)
        .handle(
            "script",
            ConformanceScript.Script.class,
            (script, context) -> ConformanceScript.run(script, context, ConformanceWorker::note))
        .start();
  }

  private static Object echo(Json payload, JobContext context) throws IOException {
    note("begin", context);
    return payload;
  }

  private static Object sleep(Span span, JobContext context) throws Exception {
    note("begin", context);
    try {
      Thread.sleep(span.millis(context));
    } catch (InterruptedException stop) {
      note("stopped", context);
      throw stop;
    }
    note("end", context);
    return Map.of("attempt", attempt(context));
  }

  private static Object block(Span span, JobContext context) throws IOException {
    note("begin", context);
    // As deaf as a computation, and leaves the processor to others.
    boolean interrupted = false;
    long end = System.nanoTime() + Duration.ofMillis(span.millis(context)).toNanos();
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    note("end", context);
    return Map.of("attempt", attempt(context));
  }

  private static Object fail(Fail fail, JobContext context) throws IOException {
    note("begin", context);
    if (attempt(context) >= fail.until()) {
      return Map.of("attempt", attempt(context));
    }
    Failure failure = Failure.of(fail.category(), fail.code(), fail.message());
    Long delay = fail.retryAfterMs();
    throw delay == null
        ? new FailedException(failure)
        : new FailedException(failure, Duration.ofMillis(delay));
  }

  private static @Nullable Object progress(Progress progress, JobContext context)
      throws InterruptedException {
    progress.lines().forEach(context::log);
    context.progress(progress.percent(), progress.message());
    Thread.sleep(SHOWN_MILLIS);
    return null;
  }

  private static Object steps(Steps steps, JobContext context) throws IOException {
    note("begin", context);
    List<StepResult> results = new ArrayList<>();
    for (String step : steps.steps()) {
      results.add(
          context.step(
              step,
              StepResult.class,
              () -> {
                note("step:" + step, context);
                if (step.equals(steps.stopIn()) && attempt(context) == 1) {
                  Thread.sleep(A_MINUTE);
                }
                return new StepResult(step, attempt(context));
              }));
    }
    return results;
  }

  private static int attempt(JobContext context) {
    return context.lease().attempt();
  }

  /** One write for each line, since several processes share the file. */
  private static void note(String word, JobContext context) throws IOException {
    Files.writeString(
        Path.of(given("JOURNAL")),
        "%s %s %s %d%n".formatted(word, context.job().kind(), context.id(), attempt(context)),
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  private static Duration millis(String name) {
    return Duration.ofMillis(Long.parseLong(given(name)));
  }

  private static String given(String name) {
    String value = System.getenv("CONFORMANCE_" + name);
    if (value == null) {
      throw new IllegalStateException(
          "CONFORMANCE_" + name + " is not set: start this program with sdk/conformance/run");
    }
    return value;
  }
}
