package dev.holdfast.worker.source;

import static dev.holdfast.testkit.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.holdfast.testkit.CapturedLog;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LoopTest {
  private static final Duration LONG = Duration.ofHours(1);

  private final AtomicInteger rounds = new AtomicInteger();
  private volatile Loop.Work work = () -> LONG;
  private final Loop loop =
      new Loop(
          "test",
          () -> {
            rounds.incrementAndGet();
            return work.runOnce();
          });

  @AfterEach
  void end() throws InterruptedException {
    loop.end();
    assertThat(loop.awaitEnd(Duration.ofMinutes(2))).isTrue();
  }

  private void awaitRounds(int atLeast) {
    until(() -> rounds.get() >= atLeast);
  }

  @Test
  void it_waits_as_long_as_a_round_returns() {
    work = () -> Duration.ofMillis(1);
    loop.start();
    awaitRounds(3);
  }

  @Test
  void at_its_end_it_does_once_what_is_left_and_survives_a_failure_of_that() throws Exception {
    List<String> done = new CopyOnWriteArrayList<>();
    Loop ending =
        new Loop(
            "ending",
            () -> {
              done.add("round");
              return LONG;
            },
            () -> {
              done.add("end");
              throw new IllegalStateException("on purpose");
            });
    ending.start();
    until(() -> !done.isEmpty());
    ending.end();
    assertThat(ending.awaitEnd(Duration.ofMinutes(2))).isTrue();
    assertThat(done).containsExactly("round", "end");
  }

  @Test
  void a_wake_begins_the_next_round_at_once() {
    loop.start();
    awaitRounds(1);
    loop.wake();
    awaitRounds(2);
  }

  @Test
  void a_wake_during_a_round_is_not_forgotten() throws InterruptedException {
    CountDownLatch inRound = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    work =
        () -> {
          inRound.countDown();
          awaitQuietly(goOn);
          return LONG;
        };
    loop.start();
    assertThat(inRound.await(120, TimeUnit.SECONDS)).isTrue();
    loop.wake();
    goOn.countDown();
    awaitRounds(2);
  }

  @Test
  void exceptions_and_errors_do_not_end_it() {
    work =
        () -> {
          return switch (rounds.get()) {
            case 1 -> throw new IllegalStateException("first");
            case 2 -> throw new OutOfMemoryError("second");
            case 3 -> throw sneaky(new Exception("checked, third"));
            default -> LONG;
          };
        };
    loop.start();
    awaitRounds(4);
  }

  @Test
  void an_exception_that_cannot_even_be_logged_does_not_end_it() {
    work =
        () -> {
          if (rounds.get() == 1) {
            throw new IllegalStateException("unspeakable") {
              private static final long serialVersionUID = 1L;

              @Override
              public String getMessage() {
                throw new OutOfMemoryError("no memory for the log line");
              }
            };
          }
          return LONG;
        };
    loop.start();
    awaitRounds(2);
  }

  @Test
  void an_unreachable_source_is_not_logged_and_any_other_error_is_logged_each_time() {
    try (CapturedLog log = CapturedLog.of(Loop.class)) {
      work =
          () -> {
            return switch (rounds.get()) {
              case 1 -> throw new SourceUnavailableException("claim: gone", new Exception());
              case 2 -> throw new SourceBusyException("claim: locked", new Exception());
              case 3 -> throw new IllegalStateException("a bug");
              default -> LONG;
            };
          };
      loop.start();
      awaitRounds(4);
      assertThat(log.lines(Level.WARN)).containsExactly("test: claim: locked (trying again)");
      assertThat(log.lines(Level.ERROR)).containsExactly("test failed (trying again)");
    }
  }

  @Test
  void an_interrupt_does_not_end_it() {
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    work =
        () -> {
          thread.complete(Thread.currentThread());
          return LONG;
        };
    loop.start();
    awaitRounds(1);
    thread.join().interrupt();
    awaitRounds(2);
    loop.wake();
    awaitRounds(3);
  }

  @Test
  void no_round_begins_after_it_was_stopped() throws InterruptedException {
    loop.start();
    awaitRounds(1);
    loop.end();
    assertThat(loop.awaitEnd(Duration.ofMinutes(2))).isTrue();
    loop.wake();
    assertThat(rounds).hasValue(1);
  }

  @Test
  void awaiting_the_end_waits_no_longer_than_its_timeout() throws InterruptedException {
    CountDownLatch goOn = new CountDownLatch(1);
    work =
        () -> {
          awaitQuietly(goOn);
          return LONG;
        };
    loop.start();
    awaitRounds(1);
    loop.end();
    assertThat(loop.awaitEnd(Duration.ofMillis(10))).isFalse();
    goOn.countDown();
  }

  @Test
  void a_loop_that_was_stopped_before_it_began_does_nothing() throws InterruptedException {
    loop.end();
    assertThat(loop.awaitEnd(Duration.ZERO)).isTrue();
    loop.start();
    assertThat(loop.awaitEnd(Duration.ofMinutes(2))).isTrue();
    assertThat(rounds).hasValue(0);
  }

  @Test
  void it_may_be_stopped_from_within_a_round() {
    work =
        () -> {
          loop.end();
          try {
            assertThat(loop.awaitEnd(LONG)).isTrue();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return LONG;
        };
    loop.start();
    awaitRounds(1);
  }

  @Test
  void jitter_is_at_most_a_quarter() {
    for (int i = 0; i < 1_000; i++) {
      assertThat(Loop.jittered(Duration.ofMillis(400)))
          .isBetween(Duration.ofMillis(300), Duration.ofMillis(500));
    }
    assertThat(Loop.jittered(Duration.ZERO)).isEqualTo(Duration.ZERO);
    assertThat(Loop.jittered(Duration.ofDays(365))).isGreaterThan(Duration.ofDays(270));
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> RuntimeException sneaky(Throwable thrown) throws E {
    throw (E) thrown;
  }
}
