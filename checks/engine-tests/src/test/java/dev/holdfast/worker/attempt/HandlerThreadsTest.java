package dev.holdfast.worker.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.worker.handler.Threads;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HandlerThreadsTest {
  private record Seen(String name, boolean virtual, boolean daemon, boolean interrupted) {}

  private static Seen seen(HandlerThreads threads, Threads wanted, String name) throws Exception {
    CompletableFuture<Seen> seen = new CompletableFuture<>();
    threads.start(
        wanted,
        name,
        () -> {
          Thread here = Thread.currentThread();
          seen.complete(
              new Seen(here.getName(), here.isVirtual(), here.isDaemon(), here.isInterrupted()));
          here.interrupt();
        });
    return seen.get(1, TimeUnit.MINUTES);
  }

  @Test
  void a_worker_of_usual_size_runs_handlers_on_platform_threads() throws Exception {
    try (HandlerThreads threads = new HandlerThreads(HandlerThreads.MOST_PLATFORM)) {
      for (int i = 0; i < 20; i++) {
        // Whether the thread is a new one or used again, nothing is left from before.
        assertThat(seen(threads, Threads.AUTO, "job-" + i))
            .isEqualTo(new Seen("job-" + i, false, true, false));
      }
      assertThat(seen(threads, Threads.VIRTUAL, "job").virtual()).isTrue();
    }
  }

  @Test
  void a_worker_with_very_many_slots_uses_virtual_threads_unless_told_otherwise() throws Exception {
    try (HandlerThreads threads = new HandlerThreads(HandlerThreads.MOST_PLATFORM + 1)) {
      assertThat(seen(threads, Threads.AUTO, "job").virtual()).isTrue();
      assertThat(seen(threads, Threads.PLATFORM, "job").virtual()).isFalse();
    }
  }
}
