package dev.holdfast.server.live;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.ProblemCode;
import dev.holdfast.operate.diagnosis.ProblemText;
import dev.holdfast.queue.jdbc.DatabaseException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Reasons why the system is not healthy. The texts stay the same while the reason does, so that no
 * new event is sent. They do not name the database's host or its messages: those are for the log.
 */
final class HealthReasons {
  static final LiveData.Reason NO_ANSWER =
      new LiveData.Reason("database_unavailable", "the database does not answer");
  static final LiveData.Reason INTERNAL =
      new LiveData.Reason("internal", "the server's log has more");

  /** What jobs do and ask; the system is healthy nevertheless. */
  private static final Set<ProblemCode> OF_JOBS =
      EnumSet.of(ProblemCode.JOBS_FAILED, ProblemCode.WAITS_UNANSWERED);

  private static final Duration SLOW = Duration.ofSeconds(2);
  private static final int MOST = 20;

  private HealthReasons() {}

  static LiveData.Reason of(DatabaseException error) {
    return switch (error.reason()) {
      case UNAVAILABLE, INTERRUPTED ->
          new LiveData.Reason("database_unavailable", "the database cannot be reached");
      case LOGIN_REFUSED -> new LiveData.Reason("database_login", "the database refuses the login");
      case NOT_ALLOWED,
          READ_ONLY,
          POOL_TOO_SMALL,
          TOO_OLD,
          NOT_DURABLE,
          SCHEMA_MISSING,
          SCHEMA_OLD,
          SCHEMA_NEWER,
          UNIQUE_KEY_HELD,
          OTHER ->
          new LiveData.Reason("database_unfit", "the database cannot be used; the log has more");
    };
  }

  static List<LiveData.Reason> of(List<Finding> findings, Duration lookTook) {
    Stream<LiveData.Reason> slow =
        lookTook.compareTo(SLOW) > 0
            ? Stream.of(new LiveData.Reason("database_slow", "the database answers slowly"))
            : Stream.empty();
    Stream<LiveData.Reason> found =
        findings.stream()
            .filter(finding -> !OF_JOBS.contains(finding.problem()))
            .map(finding -> new LiveData.Reason(finding.code(), ProblemText.of(finding).gist()));
    return Stream.concat(slow, found).limit(MOST).toList();
  }
}
