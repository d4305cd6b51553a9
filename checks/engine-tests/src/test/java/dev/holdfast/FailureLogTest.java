package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.test.HoldfastAssertions;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Pool;
import dev.holdfast.testkit.Soon;
import dev.holdfast.worker.config.FailureLog;
import java.io.File;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class FailureLogTest extends LibraryTest {
  private static final String LOGGER = "dev.holdfast.worker.attempt.AttemptLog";

  private JobId failing(int maxAttempts) {
    return enqueue(Job.of("careless").maxAttempts(maxAttempts));
  }

  private WorkerBuilder careless() {
    return handlingCareless(worker());
  }

  private static WorkerBuilder handlingCareless(WorkerBuilder builder) {
    return builder.handle(
        "careless",
        Json.class,
        AT_ONCE,
        (payload, context) -> {
          throw new IllegalStateException("db?password=hunter22 is away", new Error("the cause"));
        });
  }

  @Test
  void each_failed_attempt_logs_its_exception_with_causes_and_without_secrets_once() {
    JobId id = failing(2);
    try (CapturedLog log = CapturedLog.of(LOGGER)) {
      careless().drain();
      List<String> lines = log.lines(Level.WARN, id.toString());
      assertThat(lines).hasSize(2);
      assertThat(lines.getFirst()).contains("and is tried again: HANDLER_FAILED: ");
      assertThat(lines.getLast()).doesNotContain("tried again");
      assertThat(lines)
          .allSatisfy(
              line ->
                  assertThat(line)
                      .contains("IllegalStateException: db?password=*** is away\n")
                      .contains("\n\tat " + FailureLogTest.class.getName())
                      .contains("Caused by: java.lang.Error: the cause")
                      .doesNotContain("hunter22"));
    }
  }

  @Test
  void failures_are_logged_at_the_level_of_the_worker() {
    JobId id = failing(1);
    try (CapturedLog log = CapturedLog.of(LOGGER)) {
      careless().failureLog(FailureLog.ERROR).drain();
      assertThat(log.lines(Level.ERROR, id.toString())).hasSize(1);
      assertThat(log.lines(Level.WARN, id.toString())).isEmpty();
    }
  }

  @Test
  void failures_are_not_logged_when_that_is_off() {
    JobId id = failing(1);
    try (CapturedLog log = CapturedLog.ofEverything()) {
      careless().failureLog(FailureLog.OFF).drain();
      assertThat(log.text()).contains(id.toString()).doesNotContain("is away");
    }
  }

  @Test
  void a_failed_assertion_shows_why_jobs_failed() {
    failing(1);
    careless().drain();
    assertThatThrownBy(() -> HoldfastAssertions.assertThat(holdfast).enqueued("careless").never())
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("FAILED in queue 'default'")
        .hasMessageContaining("HANDLER_FAILED: IllegalStateException: db?password=*** is away")
        .hasMessageContaining("at " + FailureLogTest.class.getName());
  }

  /** A test of a project without a logger. */
  static final class Drained {
    public static void main(String[] args) {
      try (HikariDataSource pool = Pool.of(args[0], args[1], args[2], 5);
          Holdfast holdfast = Holdfast.on(pool)) {
        handlingCareless(holdfast.worker("default")).drain();
      }
    }
  }

  @Test
  void without_a_logger_a_drain_prints_failures_on_standard_error() {
    failing(1);
    ProcessBuilder drained =
        ChildProcess.javaCommand(
            Drained.class.getName(), List.of(), db.url(), db.user(), db.password());
    drained.command().replaceAll(FailureLogTest::withoutLogback);
    try (ChildProcess process = ChildProcess.start(drained)) {
      assertThat(process.awaitExit(Soon.SOON)).isZero();
      assertThat(String.join("\n", process.lines()))
          .containsPattern("careless \\S+ failed: HANDLER_FAILED: IllegalStateException: db")
          .contains("Caused by: java.lang.Error: the cause")
          .doesNotContain("hunter22");
    }
  }

  private static String withoutLogback(String argument) {
    return Arrays.stream(argument.split(File.pathSeparator))
        .filter(entry -> !entry.contains("logback-"))
        .collect(Collectors.joining(File.pathSeparator));
  }
}
