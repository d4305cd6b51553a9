package guide;

import static dev.holdfast.testkit.Soon.SOON;

import dev.holdfast.Holdfast;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import javax.sql.DataSource;
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
public abstract class Guide {
  protected static final Logger log = LoggerFactory.getLogger("guide");

  protected TestDatabase db;
  protected DataSource dataSource;
  protected Holdfast holdfast;

  @BeforeAll
  protected void open(TestDatabase database) {
    db = database;
    dataSource = database.dataSource();
    holdfast = Holdfast.on(dataSource);
  }

  @AfterAll
  protected void close() {
    holdfast.close();
  }

  protected final JobId enqueue(Job job) {
    return holdfast.enqueue(job).id();
  }

  protected final JobStatus status(JobId id) {
    return holdfast.find(id).orElseThrow();
  }

  protected final JobState state(JobId id) {
    return status(id).state();
  }

  protected final Failure failure(JobId id) {
    return Optional.ofNullable(status(id).failure()).orElseThrow();
  }

  protected final List<String> timeline(JobId id) {
    return holdfast.queries().timeline(id).stream().map(JobEvent::type).toList();
  }

  protected final List<JobId> claimed(String queue) {
    return holdfast.jobs().claim(new ClaimRequest(queue, 1_000, "somebody", SOON)).jobs().stream()
        .map(LeasedJob::id)
        .toList();
  }

  /** As if its worker had sent no heartbeat for longer than a lease. */
  protected final void takeAway(JobId id) {
    int attempt = status(id).attempt();
    do {
      db.expireLease(id.value());
      // A heartbeat between the two extends the lease again.
    } while (!holdfast.store().maintenance().reap(Duration.ZERO).requeued().contains(id)
        && status(id).attempt() == attempt
        && state(id) == JobState.RUNNING);
  }

  protected final void await(JobId id, JobState state) {
    until(() -> state(id) == state);
  }

  protected static void until(Callable<Boolean> condition) {
    Eventually.until(condition);
  }

  /** What the code of the guide logs while this runs. */
  protected static List<String> logged(Runnable code) {
    try (CapturedLog captured = CapturedLog.of(log.getName())) {
      code.run();
      return captured.lines();
    }
  }
}
