package dev.holdfast.server;

import dev.holdfast.model.QueueStatus;
import dev.holdfast.queue.DatabaseException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * What is wrong, in sentences that stay the same for as long as it is. Where the database is and
 * what it said is for the log: not everybody who may look on may know.
 */
final class HealthReasons {
  static final Live.Reason NO_ANSWER =
      new Live.Reason("database_away", "the database does not answer");
  static final Live.Reason INTERNAL = new Live.Reason("internal", "the server's log has more");

  private static final Duration LONG_WAIT = Duration.ofMinutes(1);
  private static final Duration SLOW = Duration.ofSeconds(2);
  private static final int MOST = 20;

  private HealthReasons() {}

  static Live.Reason of(DatabaseException trouble) {
    return switch (trouble.reason()) {
      case UNAVAILABLE, INTERRUPTED ->
          new Live.Reason("database_away", "the database cannot be reached");
      case LOGIN_REFUSED -> new Live.Reason("database_login", "the database refuses the login");
      case TOO_OLD, NOT_DURABLE, SCHEMA_MISSING, SCHEMA_OLD, SCHEMA_NEWER, OTHER ->
          new Live.Reason("database_unfit", "the database cannot be used; the log has more");
    };
  }

  static List<Live.Reason> of(
      List<QueueStatus> queues, List<Live.Worker> workers, Duration lookTook) {
    Stream<Live.Reason> stalled =
        queues.stream().filter(HealthReasons::isStalled).map(HealthReasons::stalled);
    Stream<Live.Reason> silent =
        workers.stream()
            .filter(worker -> worker.status().equals(Live.Worker.CRASHED) && worker.held() > 0)
            .map(HealthReasons::silent);
    Stream<Live.Reason> slow =
        lookTook.compareTo(SLOW) > 0
            ? Stream.of(new Live.Reason("database_slow", "the database answers slowly"))
            : Stream.empty();
    return Stream.of(slow, stalled, silent).flatMap(reasons -> reasons).limit(MOST).toList();
  }

  private static boolean isStalled(QueueStatus queue) {
    Duration oldest = queue.oldest();
    return queue.pausedAt() == null
        && queue.running() == 0
        && oldest != null
        && oldest.compareTo(LONG_WAIT) > 0;
  }

  private static Live.Reason stalled(QueueStatus queue) {
    return new Live.Reason(
        "queue_stalled",
        "jobs of queue '%s' have been due for over a minute and none is running: no worker serves it"
            .formatted(queue.name()));
  }

  private static Live.Reason silent(Live.Worker worker) {
    return new Live.Reason(
        "worker_silent", "worker '%s' is not heard of any more".formatted(worker.worker()));
  }
}
