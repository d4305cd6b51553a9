package dev.holdfast.worker.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RetryingSourceTest {
  private static final Duration AWAY = Duration.ofMillis(1_500);

  @Test
  void a_handler_that_was_told_to_stop_does_not_ask_without_a_pause() {
    AtomicInteger asked = new AtomicInteger();
    RetryingSource source = new RetryingSource(new MemorySource());
    long until = System.nanoTime() + AWAY.toNanos();
    Thread.currentThread().interrupt();
    try {
      String answer =
          source.ask(
              it -> {
                asked.incrementAndGet();
                if (System.nanoTime() < until) {
                  throw new SourceUnavailableException("away", new IllegalStateException());
                }
                return "back";
              });
      assertThat(answer).isEqualTo("back");
      assertThat(asked).hasValueLessThan(10);
      assertThat(Thread.currentThread().isInterrupted()).isTrue();
    } finally {
      boolean unused = Thread.interrupted();
    }
  }
}
