package guide;

import static dev.holdfast.testkit.Soon.SOON;

import dev.holdfast.Holdfast;
import dev.holdfast.model.Failure;
import dev.holdfast.model.Job;
import dev.holdfast.model.JobEvent;
import dev.holdfast.model.JobId;
import dev.holdfast.model.JobState;
import dev.holdfast.model.JobStatus;
import dev.holdfast.model.LeasedJob;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The code of docs/guides and of docs/self-heal.md runs here, in a package of its own, so that it
 * sees what users see. Each class is a section, and has a database.
 */
@ExtendWith(DatabaseExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class Guide {
  static final Logger log = LoggerFactory.getLogger("guide");

  TestDatabase db;
  DataSource dataSource;
  Holdfast holdfast;

  @BeforeAll
  void open(TestDatabase database) {
    db = database;
    dataSource = database.dataSource();
    holdfast = Holdfast.on(dataSource);
  }

  @AfterAll
  void close() {
    holdfast.close();
  }

  final JobId enqueue(Job job) {
    return holdfast.enqueue(job).id();
  }

  final JobStatus status(JobId id) {
    return holdfast.find(id).orElseThrow();
  }

  final JobState state(JobId id) {
    return status(id).state();
  }

  final Failure failure(JobId id) {
    return Optional.ofNullable(status(id).failure()).orElseThrow();
  }

  final List<String> timeline(JobId id) {
    return holdfast.queue().timeline(id).stream().map(JobEvent::type).toList();
  }

  final List<JobId> claimed(String queue) {
    return holdfast.queue().claim(queue, 1_000, "somebody", SOON).jobs().stream()
        .map(LeasedJob::id)
        .toList();
  }

  /** As if its worker had not been heard of for longer than a lease. */
  final void takeAway(JobId id) {
    db.sql(
        "UPDATE holdfast.job SET lease_expires_at = clock_timestamp() - interval '1 hour'"
            + " WHERE id = ?",
        id.value());
    holdfast.queue().reap(Duration.ZERO);
  }

  final void await(JobId id, JobState state) {
    until(() -> state(id) == state);
  }

  static void until(Callable<Boolean> condition) {
    Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(20))
        .atMost(SOON)
        .until(condition);
  }

  /** What the code of the guide logs while this runs. */
  static List<String> logged(Runnable code) {
    try (CapturedLog captured = CapturedLog.of(log.getName())) {
      code.run();
      return captured.lines();
    }
  }
}
