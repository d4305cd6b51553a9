package dev.holdfast.queue.health;

import dev.holdfast.queue.QueueFixture;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;

/** Worker processes in the database. */
abstract class WorkerRegistryFixture extends QueueFixture {
  static final String HERE = "here";
  static final String TAG = "worker:tag:0";

  WorkerRegistry health;

  @BeforeEach
  void clear() {
    db.sql("TRUNCATE holdfast.health, holdfast.worker_command, holdfast.supervisor");
    health = opened.workers();
  }

  void supervisor() {
    health.supervisors().appear(new Supervisors.Supervising(HERE, "host", 1, Instant.EPOCH));
  }
}
