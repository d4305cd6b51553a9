package dev.holdfast.queue.batch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A queue that claims in batches. */
abstract class BatchFixture extends QueueFixture {
  JobStore batching;
  JobQueue worker;

  @BeforeEach
  void openBatching() {
    batching = batching(db.dataSource());
    worker = batching.jobs();
  }

  /** Not the usual one. */
  static final Duration OWN_GRACE = Duration.ofMinutes(7);

  /** Every claim of its workers is a batch claim. */
  static JobStore batching(DataSource source) {
    return new JobStore(source, new JacksonCodec(), JobStore.Options.DEFAULT.batchFrom(0));
  }

  @AfterEach
  void closeBatching() {
    batching.close();
  }

  List<Lease> batch(int jobs) {
    queue.enqueue(jobs(jobs));
    List<Lease> leases = inBatch(jobs);
    assertThat(leases).hasSize(jobs);
    return leases;
  }

  List<Lease> inBatch(int most) {
    return worker
        .claim(new ClaimRequest(QUEUE, most, WORKER, LEASE).cancelGrace(OWN_GRACE).inBatches())
        .jobs()
        .stream()
        .map(LeasedJob::lease)
        .toList();
  }

  Lease inBatch() {
    return batch(1).getFirst();
  }

  static long claims() {
    return db.count("SELECT count(*) FROM holdfast.claim");
  }

  static long rows(String state, int attempt) {
    return db.count(
        "SELECT count(*) FROM holdfast.job WHERE state = ? AND attempt = ?", state, attempt);
  }

  /** As if the claim had been made an hour ago, by a worker that is dead. */
  static void expireClaims() {
    db.sql(
        "UPDATE holdfast.claim SET started_at = started_at - interval '1 hour',"
            + " lease_expires_at = started_at - interval '1 hour'");
  }

  /** One way to read a job. */
  interface Question {
    Object ask(JobStore asked, JobId job);
  }

  record Asked(String name, Object answer, Question question) {
    @Override
    public String toString() {
      return name;
    }
  }

  static JobStatus find(JobStore asked, JobId job) {
    return asked.queries().find(job).orElseThrow();
  }

  static AttemptOutcome outcome(JobStore asked, JobId job) {
    return asked.queries().attempts(job).getFirst().outcome();
  }

  /** A verb on one job of a batch. */
  interface Verb {
    Ack run(JobQueue queue, Lease lease);
  }

  record NamedVerb(String name, String method, Verb verb) {
    @Override
    public String toString() {
      return name;
    }
  }
}
