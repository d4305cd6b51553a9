package dev.holdfast.queue.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.QueueFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * With {@code jit = on}, which is what a server has unless told otherwise, no statement of the data
 * path is compiled: that takes a second, each time. A backend that compiles loads a library.
 */
class CompiledPlanTest extends QueueFixture {
  private final DataSource compiling = db.dataSource(db.url() + "?options=-c%20jit=on", 2);

  private final JobStore store =
      new JobStore(compiling, new JacksonCodec(), new JobStore.Options(1, StatementObserver.NONE));

  @AfterEach
  void closeQueue() {
    store.close();
  }

  private static boolean hasCompiled() {
    return db.query("SELECT pid FROM pg_stat_activity WHERE datname = current_database()").stream()
        .map(row -> String.valueOf(row.get("pid")))
        .anyMatch(CompiledPlanTest::hasCompiled);
  }

  private static boolean hasCompiled(String pid) {
    try {
      return Files.readString(Path.of("/proc", pid, "maps")).contains("llvmjit");
    } catch (IOException gone) {
      return false;
    }
  }

  private void run(List<LeasedJob> claimed) {
    claimed.forEach(job -> store.jobs().heartbeat(List.of(job.lease()), LEASE));
    claimed.forEach(job -> store.jobs().settle(new Settlement.Succeed(job.lease(), null)));
  }

  @Test
  void a_job_is_claimed_and_settled_without_compiling() {
    store.jobs().enqueue(jobs(3));
    run(store.jobs().claim(new ClaimRequest(QUEUE, 10, WORKER, LEASE)).jobs());
    store.maintenance().reap(GRACE);
    assertThat(hasCompiled()).isFalse();
  }

  @Test
  void a_job_with_a_limit_is_claimed_without_compiling() {
    store
        .jobs()
        .enqueue(IntStream.range(0, 6).mapToObj(i -> job().concurrencyKey("k" + i, 2)).toList());
    run(store.jobs().claim(new ClaimRequest(QUEUE, 10, WORKER, LEASE)).jobs());
    assertThat(hasCompiled()).isFalse();
  }
}
