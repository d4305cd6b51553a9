package dev.holdfast.scenarios;

import dev.holdfast.Holdfast;
import dev.holdfast.KindProvider;
import dev.holdfast.examples.clip.ClipKinds;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.handler.CancelledException;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.LeaseLostException;
import java.io.FileOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** The handlers of the worker processes of the scenarios; they report to standard output. */
public final class ScenarioKinds implements KindProvider {
  static final RetryPolicy QUICK =
      new RetryPolicy(Duration.ofMillis(100), 1, Duration.ofMillis(100));

  /** A file that lets the handler go on: it works while the database does not. */
  record Hold(String until) {}

  record Work(int millis) {}

  @Override
  public Collection<Kind<?>> kinds(Holdfast holdfast) {
    return List.of(
        Kind.of("hold", Hold.class, (hold, context) -> hold(hold, context)),
        Kind.of("stubborn-hold", Hold.class, (hold, context) -> stubbornHold(hold, context)),
        Kind.of(
            "hold-effect",
            Hold.class,
            (hold, context) -> {
              stubbornHold(hold, context);
              return effect(holdfast, context);
            }),
        Kind.of(
                "effect",
                Work.class,
                (work, context) -> {
                  Thread.sleep(work.millis());
                  return effect(holdfast, context);
                })
            .retry(QUICK),
        Kind.of(
            "work",
            Work.class,
            (work, context) -> {
              Thread.sleep(work.millis());
              return ran(holdfast, context);
            }),
        Kind.of(
            "patient",
            Work.class,
            (work, context) -> {
              // Its process dies under it twice, sooner or later.
              boolean withOthers = context.lease().attempt() <= Job.DEFAULT_MAX_CRASHES;
              Thread.sleep(withOthers ? Duration.ofHours(1) : Duration.ofMillis(work.millis()));
              return ran(holdfast, context);
            }),
        Kind.of("always-fails", Json.class, (payload, context) -> fail(context)).retry(QUICK),
        Kind.of("halt", Json.class, (payload, context) -> halt(context)),
        Kind.of("hoard", Json.class, (payload, context) -> hoard(context)),
        Kind.of("publish", Hold.class, (hold, context) -> publish(hold, context)),
        publishedAndWaiting(holdfast),
        Kind.of("clock", Json.class, (payload, context) -> System.currentTimeMillis()));
  }

  static final int LARGE = 4 << 20;

  /** A large file full of the attempt's number; settled when a second gate opens. */
  private static Object publish(Hold hold, JobContext context) throws Exception {
    stubbornHold(hold, context);
    byte[] bytes = new byte[LARGE];
    Arrays.fill(bytes, (byte) context.lease().attempt());
    Path file = context.scratch().resolve("large");
    // Not by a channel, which an interrupt would close.
    try (FileOutputStream out = new FileOutputStream(file.toFile())) {
      out.write(bytes);
    }
    try {
      context.publish("large.bin", file);
    } catch (LeaseLostException | CancelledException refused) {
      tell("refused", context);
      throw refused;
    }
    tell("published", context);
    stubbornHold(new Hold(Path.of(hold.until()).resolveSibling("settle").toString()), context);
    return madeBy(context);
  }

  /** The clip of the examples, which does not come back after its first publication. */
  private static Kind<?> publishedAndWaiting(Holdfast holdfast) {
    return waiting(new ClipKinds().kinds(holdfast).iterator().next());
  }

  private static <T> Kind<T> waiting(Kind<T> kind) {
    return Kind.of(
            "clip-and-wait",
            kind.payload(),
            (payload, context) -> {
              Object result = kind.handler().handle(payload, context);
              tell("published", context);
              Thread.sleep(Duration.ofHours(1));
              return result;
            })
        .producing(kind.artifacts().toArray(String[]::new));
  }

  private static Object hold(Hold hold, JobContext context) throws InterruptedException {
    tell("began", context);
    while (!Files.exists(Path.of(hold.until()))) {
      Thread.sleep(10);
    }
    return madeBy(context);
  }

  /** Ignores interrupts: only the fence can reject its result. */
  private static Object stubbornHold(Hold hold, JobContext context) {
    tell("began", context);
    while (!Files.exists(Path.of(hold.until()))) {
      try {
        Thread.sleep(10);
      } catch (InterruptedException toldToStop) {
        tell("told to stop", context);
      }
    }
    return madeBy(context);
  }

  private static Object effect(Holdfast holdfast, JobContext context) throws SQLException {
    try (Connection connection = holdfast.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      insert(connection, "INSERT INTO effect (job, attempt) VALUES (?, ?)", context);
      Object result = madeBy(context);
      holdfast.succeed(connection, context, result);
      commit(connection, context);
      return result;
    }
  }

  /** By a statement that a fault proxy can tell from all other commits. */
  private static void commit(Connection connection, JobContext context) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(commitOf(context.lease()));
    } catch (SQLException unanswered) {
      tell("commit failed", context);
      throw unanswered;
    }
  }

  static String commitOf(Lease lease) {
    return "COMMIT /* " + lease + " */";
  }

  private static Object ran(Holdfast holdfast, JobContext context) throws SQLException {
    try (Connection connection = holdfast.dataSource().getConnection()) {
      insert(connection, "INSERT INTO ran (job, attempt) VALUES (?, ?)", context);
    }
    return madeBy(context);
  }

  private static void insert(Connection connection, String sql, JobContext context)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setObject(1, context.id().value());
      statement.setInt(2, context.lease().attempt());
      statement.executeUpdate();
    }
  }

  private static Object fail(JobContext context) {
    tell("began", context);
    throw FailedException.of(FailureCategory.USER_CODE, "BROKEN", "it never works");
  }

  private static Object halt(JobContext context) {
    tell("began", context);
    Runtime.getRuntime().halt(137);
    return "";
  }

  /** Until there is no memory left. */
  private static Object hoard(JobContext context) {
    tell("began", context);
    List<byte[]> hoard = new ArrayList<>();
    while (hoard.size() < 10_000) {
      hoard.add(new byte[1 << 20]);
    }
    return hoard.size();
  }

  static Map<String, Object> madeBy(JobContext context) {
    return Map.of("pid", ProcessHandle.current().pid(), "attempt", context.lease().attempt());
  }

  static void tell(String what, JobContext context) {
    System.out.println(what + " " + context.lease());
  }
}
