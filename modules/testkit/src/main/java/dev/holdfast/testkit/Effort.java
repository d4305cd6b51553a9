package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;

/** What something costs this thread's processor: a machine that stands still does not add to it. */
public final class Effort {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private Effort() {}

  public static void isBelow(Duration limit, Runnable work) {
    long before = THREADS.getCurrentThreadCpuTime();
    work.run();
    assertThat(Duration.ofNanos(THREADS.getCurrentThreadCpuTime() - before)).isLessThan(limit);
  }
}
