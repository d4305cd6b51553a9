package dev.holdfast.chaos.load;

import dev.holdfast.Holdfast;
import dev.holdfast.KindProvider;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.LeaseLostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** What the worker processes run. Each handler records that it ran, and what was refused it. */
public final class ChaosKinds implements KindProvider {
  /** Of every worker of a run. */
  public static final Duration LEASE = Duration.ofSeconds(5);

  /** Seldom more than a moment, so that jobs are retried as often as possible. */
  private static final RetryPolicy SOON =
      new RetryPolicy(Duration.ofMillis(50), 2, Duration.ofSeconds(2));

  /**
   * @param millis how long the handler takes
   * @param failures how many attempts fail before one succeeds
   */
  public record Work(int millis, int failures) {}

  @Override
  public Collection<Kind<?>> kinds(Holdfast holdfast) {
    List<Kind<?>> kinds = new ArrayList<>(kinds());
    kinds.add(kind("effect", (work, context) -> effect(holdfast, work, context)));
    return kinds;
  }

  @Override
  public Collection<Kind<?>> kinds() {
    return List.of(
        kind("plain", ChaosKinds::plain),
        kind("flaky", ChaosKinds::flaky),
        kind("stubborn", ChaosKinds::stubborn),
        kind("steps", ChaosKinds::steps),
        kind(Waits.KIND, Waits::handle),
        kind(StartedJobs.ANY, StartedJobs::waitForAny),
        kind(StartedJobs.FAIL_FAST, StartedJobs::waitForAll),
        kind(StartedJobs.FAILING, StartedJobs::fail),
        Chains.kind().retry(SOON),
        kind("artifact", ChaosKinds::artifact),
        kind("leaky", ChaosKinds::leaky),
        kind("hungry", ChaosKinds::hungry),
        kind("tick", ChaosKinds::plain));
  }

  private static Kind<Work> kind(String name, Handler<Work> handler) {
    return Kind.of(name, Work.class, LateWrites.after(handler)).retry(SOON);
  }

  private static Object plain(Work work, JobContext context) throws Exception {
    Records.ran(context);
    Thread.sleep(work.millis());
    return result(context);
  }

  private static Object flaky(Work work, JobContext context) throws Exception {
    Records.ran(context);
    Thread.sleep(work.millis());
    if (context.lease().attempt() <= work.failures()) {
      throw FailedException.of(FailureCategory.USER_CODE, "FLAKY", "not yet");
    }
    return result(context);
  }

  private static Object effect(Holdfast holdfast, Work work, JobContext context) throws Exception {
    Records.ran(context);
    Thread.sleep(work.millis());
    Object result = result(context);
    try (Connection connection = holdfast.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      Records.effect(connection, context);
      try {
        holdfast.succeed(connection, context, result);
      } catch (LeaseLostException refused) {
        connection.rollback();
        recordRefused(context, "settle");
        throw refused;
      }
      connection.commit();
    }
    return result;
  }

  /** Does not stop when it is told to: only the fence keeps out what it writes. */
  private static Object stubborn(Work work, JobContext context) throws Exception {
    Records.ran(context);
    long end = System.nanoTime() + Duration.ofMillis(work.millis()).toNanos();
    while (System.nanoTime() < end) {
      try {
        Thread.sleep(50);
      } catch (InterruptedException ignored) {
        // Goes on.
      }
    }
    try {
      context.event("chaos:worked", Map.of("attempt", context.lease().attempt()));
    } catch (LeaseLostException refused) {
      recordRefused(context, "event");
      throw refused;
    }
    return result(context);
  }

  private static void recordRefused(JobContext context, String write) throws SQLException {
    Thread.interrupted(); // or the connection would not be opened
    Records.refused(context, write);
  }

  private static Object steps(Work work, JobContext context) throws Exception {
    Records.ran(context);
    int sum = 0;
    for (String step : List.of("one", "two", "three")) {
      sum +=
          context.step(
              step,
              Integer.class,
              () -> {
                Thread.sleep(work.millis() / 3 + 1);
                Records.stepDone(context, step);
                return 1;
              });
    }
    return Map.of("attempt", context.lease().attempt(), "sum", sum);
  }

  private static Object artifact(Work work, JobContext context) throws Exception {
    Records.ran(context);
    Path file = context.scratch().resolve("out");
    Files.writeString(file, "made by attempt " + context.lease().attempt());
    Thread.sleep(work.millis());
    try {
      context.publish("out.txt", file);
    } catch (LeaseLostException refused) {
      recordRefused(context, "artifact");
      throw refused;
    }
    return result(context);
  }

  /** Tells its secret to whoever listens: to the log, in what went wrong, on its output. */
  private static Object leaky(Work work, JobContext context) throws Exception {
    Records.ran(context);
    context.log("signing in with password=" + Secrets.PLANTED);
    context.progress(50, "Authorization: Bearer " + Secrets.PLANTED);
    if (context.lease().attempt() == 1) {
      throw FailedException.of(
          FailureCategory.USER_CODE, "LEAKY", "cannot sign in with password=" + Secrets.PLANTED);
    }
    return result(context);
  }

  /** Takes all the memory that its process has, the first time. */
  private static Object hungry(Work work, JobContext context) throws Exception {
    Records.ran(context);
    if (context.lease().attempt() == 1) {
      List<byte[]> taken = new ArrayList<>();
      while (taken.size() < 10_000) {
        taken.add(new byte[1 << 20]);
      }
    }
    return result(context);
  }

  private static Map<String, Integer> result(JobContext context) {
    return Map.of("attempt", context.lease().attempt());
  }
}
