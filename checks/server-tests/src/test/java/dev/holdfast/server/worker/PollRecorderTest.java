package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.model.ops.Poller;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.server.worker.LongPollBroker.Line;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(DatabaseExtension.class)
class PollRecorderTest {
  private static final List<Line> MAIL = List.of(new Line("mail", Tenant.ANY));
  private static final Duration WAIT = Duration.ofSeconds(30);

  private final TestDatabase db;
  private final Holdfast holdfast;
  private final AtomicLong clock = new AtomicLong();
  private final PollRecorder recorder;

  PollRecorderTest(TestDatabase db) {
    this.db = db;
    this.holdfast = Holdfast.on(db.dataSource());
    this.recorder = new PollRecorder(holdfast.store().workers().polls(), clock::get);
  }

  @AfterEach
  void close() {
    holdfast.close();
  }

  private void pass(Duration time) {
    clock.addAndGet(time.toNanos());
    db.sql(
        "UPDATE holdfast.worker_poll SET expires_at = expires_at - ? * interval '1 ms',"
            + " asked_at = asked_at - ? * interval '1 ms'",
        time.toMillis(),
        time.toMillis());
  }

  private List<String> live() {
    return holdfast.store().workers().polls().live(Tenant.ANY).stream()
        .map(Poller::worker)
        .toList();
  }

  @Test
  void a_worker_that_waits_is_there_and_for_twenty_seconds_after_its_answer() {
    recorder.asks("w1", MAIL, WAIT);
    recorder.write();
    pass(WAIT.plusSeconds(10));
    assertThat(live()).containsExactly("w1");
    recorder.answered("w1", MAIL, false);
    recorder.write();
    pass(Duration.ofSeconds(19));
    assertThat(live()).containsExactly("w1");
    pass(Duration.ofSeconds(2));
    assertThat(live()).isEmpty();
  }

  @Test
  void a_worker_that_closed_its_connection_is_gone_unless_another_of_its_requests_waits() {
    recorder.asks("w1", MAIL, WAIT);
    recorder.asks("w1", MAIL, WAIT);
    recorder.answered("w1", MAIL, true);
    recorder.write();
    pass(Duration.ofSeconds(3));
    assertThat(live()).containsExactly("w1");
    recorder.answered("w1", MAIL, true);
    recorder.write();
    pass(Duration.ofSeconds(3));
    assertThat(live()).isEmpty();
  }

  @Test
  void what_the_database_did_not_take_is_written_with_the_next_turn() {
    recorder.asks("w1", MAIL, WAIT);
    db.sql("ALTER TABLE holdfast.worker_poll RENAME TO away");
    assertThatThrownBy(recorder::write).isInstanceOf(DatabaseException.class);
    db.sql("ALTER TABLE holdfast.away RENAME TO worker_poll");
    assertThat(live()).isEmpty();
    recorder.write();
    assertThat(live()).containsExactly("w1");
  }

  @Test
  void a_worker_that_asks_again_and_again_is_written_every_few_seconds() {
    for (int i = 0; i < 10; i++) {
      recorder.asks("w1", MAIL, Duration.ZERO);
      recorder.answered("w1", MAIL, false);
      recorder.write();
      db.sql("UPDATE holdfast.worker_poll SET asked_at = '2020-01-01'");
      pass(Duration.ofMillis(400));
    }
    recorder.write();
    assertThat(db.count("SELECT count(*) FROM holdfast.worker_poll WHERE asked_at < '2021-01-01'"))
        .as("not written again")
        .isEqualTo(1);
    assertThat(live()).containsExactly("w1");
  }
}
