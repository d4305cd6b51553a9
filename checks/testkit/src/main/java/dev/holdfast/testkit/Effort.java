package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.function.IntConsumer;

/** What something costs this thread's processor: a machine that stands still does not add to it. */
public final class Effort {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private Effort() {}

  public static void isBelow(Duration limit, Runnable work) {
    assertThat(of(work)).isLessThan(limit);
  }

  /**
   * Work on four times as much takes about four times as long, not sixteen times. What is done
   * within the limit is not measured again: no machine has to be of a certain speed, but most are.
   */
  public static void isLinear(int size, Duration limit, IntConsumer work) {
    Duration all = of(() -> work.accept(size));
    if (all.compareTo(limit) > 0) {
      assertThat(all).isLessThan(of(() -> work.accept(size / 4)).multipliedBy(8));
    }
  }

  private static Duration of(Runnable work) {
    long before = THREADS.getCurrentThreadCpuTime();
    work.run();
    return Duration.ofNanos(THREADS.getCurrentThreadCpuTime() - before);
  }
}
