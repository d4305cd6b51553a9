package dev.holdfast.queue;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A settle finds its row by place, and a heartbeat may move the row just then. */
@ExtendWith(DatabaseExtension.class)
class MovedRowTest {
  @Test
  void a_settle_finds_a_row_that_a_heartbeat_moved_while_it_waited_for_the_lock(TestDatabase db)
      throws Exception {
    try (JobStore store =
            new JobStore(db.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT);
        Connection heartbeat = db.dataSource().getConnection();
        Statement statement = heartbeat.createStatement()) {
      store.jobs().enqueue(Job.of("work"));
      Lease lease =
          store
              .jobs()
              .claim(new ClaimRequest("default", 1, "worker", Duration.ofMinutes(1)))
              .jobs()
              .getFirst()
              .lease();
      heartbeat.setAutoCommit(false);
      statement.execute("UPDATE holdfast.job SET heartbeat_at = clock_timestamp()");
      CompletableFuture<Ack> settled =
          CompletableFuture.supplyAsync(
              () -> store.jobs().settle(new Settlement.Succeed(lease, new Json("{\"n\": 1}"))));
      await()
          .atMost(SOON)
          .until(
              () ->
                  db.count("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
                      > 0);
      heartbeat.commit();
      assertThat(settled.get(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(Ack.ACCEPTED);
      assertThat(String.valueOf(store.queries().find(lease.job()).orElseThrow().result()))
          .isEqualTo("{\"n\": 1}");
    }
  }
}
