package dev.holdfast.chaos.fault;

import dev.holdfast.chaos.check.Finding;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/** Breaks things by a schedule that follows from a seed. */
public final class Nemesis implements Disruption, AutoCloseable {

  /** One entry of the schedule. */
  public record Entry(Duration at, Fault fault, long seed) {}

  /** One that had so many turns and never happened is broken itself; others may do in its way. */
  static final int TURNS = 10;

  private final List<Entry> schedule;
  private final Target target;
  private final Consumer<String> progress;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final ReentrantLock database = new ReentrantLock(true);
  private final Map<String, Integer> happened = new TreeMap<>();

  public Nemesis(List<Entry> schedule, Target target, Consumer<String> progress) {
    this.schedule = List.copyOf(schedule);
    this.target = target;
    this.progress = progress;
    schedule.forEach(entry -> happened.put(entry.fault().name(), 0));
  }

  /**
   * The faults of a run and their times, which depend on the seed alone.
   *
   * @param perMinute how many faults, on average
   */
  public static List<Entry> schedule(
      List<Fault> faults, long seed, Duration length, int perMinute) {
    int between = 60_000 / perMinute;
    int shortest = between * 3 / 10;
    Random random = new Random(seed);
    List<Entry> schedule = new ArrayList<>();
    List<Fault> bag = new ArrayList<>();
    long at = shortest;
    while (at < length.toMillis()) {
      if (bag.isEmpty()) {
        // Each once before any comes again, so that a short run has all of them.
        bag.addAll(faults);
      }
      Fault fault = bag.remove(random.nextInt(bag.size()));
      schedule.add(new Entry(Duration.ofMillis(at), fault, random.nextLong()));
      at += shortest + random.nextInt(2 * (between - shortest));
    }
    return schedule;
  }

  /** Carries the schedule out, and returns when all is mended. */
  @Override
  public void run() throws InterruptedException {
    long start = System.nanoTime();
    for (Entry entry : schedule) {
      long wait = entry.at().toNanos() - (System.nanoTime() - start);
      TimeUnit.NANOSECONDS.sleep(wait);
      threads.execute(() -> strike(entry));
    }
    close();
  }

  private void strike(Entry entry) {
    Fault fault = entry.fault();
    boolean alone = fault.reach() == Fault.Reach.DATABASE;
    if (alone) {
      database.lock();
      target.recovery().outageBegins();
    }
    try {
      if (fault.strike().on(target, new Random(entry.seed()))) {
        count(fault);
      }
    } catch (InterruptedException end) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      progress.accept(fault.name() + " did not work: " + e);
    } finally {
      if (alone) {
        target.recovery().outageEnds(fault.name());
        database.unlock();
      }
    }
  }

  private synchronized void count(Fault fault) {
    happened.merge(fault.name(), 1, Integer::sum);
  }

  /** How often each has happened. */
  @Override
  public synchronized Map<String, Integer> happened() {
    return new TreeMap<>(happened);
  }

  @Override
  public List<Finding> findings() {
    return List.of(finding(schedule, happened()));
  }

  /** In a short run a fault may not happen because others come in between: that breaks no rule. */
  static Finding finding(List<Entry> schedule, Map<String, Integer> happened) {
    Map<String, Integer> turns = new TreeMap<>();
    schedule.forEach(entry -> turns.merge(entry.fault().name(), 1, Integer::sum));
    turns.values().removeIf(count -> count < TURNS);
    return new Finding(
        "every fault that had " + TURNS + " turns happened",
        turns.size(),
        turns.keySet().stream()
            .filter(name -> happened.getOrDefault(name, 0) == 0)
            .map(name -> name + " did not")
            .toList());
  }

  @Override
  public void close() {
    threads.close();
  }
}
