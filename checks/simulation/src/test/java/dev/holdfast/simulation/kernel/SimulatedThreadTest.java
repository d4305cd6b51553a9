package dev.holdfast.simulation.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.testkit.Eventually;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Several runs share one JVM, and each is what its seed says. */
class SimulatedThreadTest {
  private static final long MINUTE = 60_000_000_000L;

  @BeforeAll
  static void supported() {
    assumeThat(Scheduler.isSupported()).as("needs a JDK of 24 or newer").isTrue();
  }

  @Test
  void a_monitor_that_is_held_outside_the_run_delays_no_virtual_time() throws Exception {
    Object monitor = new Object();
    heldOutside(
        Thread.State.BLOCKED,
        held -> {
          synchronized (monitor) {
            held.run();
          }
        });
  }

  @Test
  void a_lock_of_the_jdk_that_is_held_outside_the_run_delays_no_virtual_time() throws Exception {
    ReentrantLock lock = new ReentrantLock();
    heldOutside(
        Thread.State.WAITING,
        held -> {
          lock.lock();
          try {
            held.run();
          } finally {
            lock.unlock();
          }
        });
  }

  /**
   * @param waiting the state of a thread that waits for it
   * @param locked runs something while it holds the lock
   */
  private static void heldOutside(Thread.State waiting, Consumer<Runnable> locked)
      throws Exception {
    Scheduler scheduler = new Scheduler(1, 1_000);
    SimulatedProcess process = new SimulatedProcess(scheduler, "p", 0);
    List<String> happened = new ArrayList<>();
    AtomicReference<Thread> waits = new AtomicReference<>();
    CountDownLatch isHeld = new CountDownLatch(1);
    Thread holder =
        Thread.ofPlatform()
            .start(
                () ->
                    locked.accept(
                        () -> {
                          isHeld.countDown();
                          Eventually.until(
                              () -> waits.get() != null && waits.get().getState() == waiting);
                        }));
    isHeld.await();
    waits.set(
        process.start(
            "waits", () -> locked.accept(() -> happened.add("in at " + scheduler.now()))));
    scheduler.after(MINUTE, () -> happened.add("a minute later"));

    scheduler.run(2 * MINUTE, () -> happened.size() == 2);
    holder.join();

    assertThat(happened).containsExactly("in at 0", "a minute later");
  }

  @Test
  void a_thread_may_run_before_the_one_that_started_or_unparked_it_goes_on() {
    Scheduler scheduler = new Scheduler(1, 1_000_000);
    SimulatedProcess process = new SimulatedProcess(scheduler, "p", 0);
    List<String> happened = new ArrayList<>();
    process.start(
        "first",
        () -> {
          Thread second =
              process.start(
                  "second",
                  () -> {
                    happened.add("second started");
                    LockSupport.park();
                    happened.add("second unparked");
                  });
          passPoints();
          happened.add("first goes on");
          LockSupport.unpark(second);
          passPoints();
          happened.add("first ends");
        });

    scheduler.run(MINUTE, () -> happened.size() == 4);

    assertThat(happened)
        .containsExactly("second started", "first goes on", "second unparked", "first ends");
  }

  /** So many that another thread runs at one of them, if it can. */
  private static void passPoints() {
    for (int i = 0; i < 200; i++) {
      Calls.point();
    }
  }

  @Test
  void no_unpark_from_outside_the_run_is_lost() {
    Scheduler scheduler = new Scheduler(1, Long.MAX_VALUE);
    SimulatedProcess process = new SimulatedProcess(scheduler, "p", 0);
    AtomicBoolean over = new AtomicBoolean();
    Thread parks =
        process.start(
            "parks",
            () -> {
              while (!over.get()) {
                LockSupport.park();
              }
            });
    Thread outside =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 0; i < 5_000_000; i++) {
                    LockSupport.unpark(parks);
                  }
                  over.set(true);
                  LockSupport.unpark(parks);
                });
    for (int i = 0; i < 4; i++) {
      process.start(
          "becomes ready all the time",
          () -> {
            while (outside.isAlive()) {
              Calls.parkNanos(1);
            }
          });
    }

    assertThat(scheduler.run(100 * MINUTE, () -> parks.getState() == Thread.State.TERMINATED))
        .isTrue();
  }

  @Test
  void the_random_part_of_an_id_is_drawn_from_the_seed() throws Exception {
    // Each by a loader of its own: ids of one only rise.
    assertThat(id(7)).isEqualTo(id(7)).isNotEqualTo(id(8));
  }

  private static String id(long seed) throws Exception {
    try (SimulationLoader loader = SimulationLoader.simulating(List.of(), Map.of())) {
      Method next = loader.loadClass("dev.holdfast.model.job.JobId").getMethod("next");
      Scheduler scheduler = new Scheduler(seed, 1_000);
      List<String> made = new ArrayList<>();
      new SimulatedProcess(scheduler, "p", 0)
          .start(
              "makes",
              () -> {
                try {
                  made.add(next.invoke(null).toString());
                } catch (ReflectiveOperationException trouble) {
                  throw new IllegalStateException(trouble);
                }
              });
      assertThat(scheduler.run(MINUTE, () -> !made.isEmpty())).isTrue();
      return made.getFirst();
    }
  }
}
