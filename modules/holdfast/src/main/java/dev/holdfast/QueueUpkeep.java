package dev.holdfast;

import static dev.holdfast.SourceErrors.translated;

import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Maintenance;
import dev.holdfast.queue.recover.ReapResult;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.maintenance.Periodic;
import dev.holdfast.worker.maintenance.Reaper;
import dev.holdfast.worker.source.Loop;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The periodic tasks of a queue, of workers with the database and of servers. */
final class QueueUpkeep implements Reaper.Verbs {
  static final Duration HISTORY = Duration.ofSeconds(20);
  private static final Duration REST_OF_HISTORY = Duration.ofSeconds(5);
  private static final Duration HISTORY_ROUND = Duration.ofSeconds(1);
  private static final Duration ANNOUNCE = Duration.ofSeconds(30);
  private static final int MOST_PAGES = 100;

  /** All processes know when the next schedule is due; the first of them to look fires it. */
  private static final int SPREAD_MILLIS = 50;

  private final JobStore store;
  private final Maintenance maintenance;
  private final @Nullable DeleteOldJobs deleteOldJobs;
  private final LongSupplier nanos;

  QueueUpkeep(JobStore store, @Nullable DeleteOldJobs deleteOldJobs, LongSupplier nanos) {
    this.store = store;
    this.maintenance = store.maintenance();
    this.deleteOldJobs = deleteOldJobs;
    this.nanos = nanos;
  }

  /** Of a worker with handlers for these kinds. */
  List<Periodic> ofWorker(WorkerOptions options, List<Kind<?>> kinds, Metrics metrics) {
    Timings timings = options.timings();
    List<String> names = kinds.stream().map(Kind::name).distinct().toList();
    List<KindVersion> versions =
        kinds.stream()
            .filter(kind -> kind.version() > 0)
            .map(kind -> new KindVersion(kind.name(), kind.version()))
            .toList();
    List<Periodic> tasks = new ArrayList<>();
    tasks.add(
        task(
            "announce",
            timings.sweep(),
            () -> {
              store.jobs().announce(options.queues(), names, versions);
              return ANNOUNCE;
            }));
    tasks.addAll(tasks(new Reaper(this, timings, metrics, nanos), timings));
    return tasks;
  }

  /** Of a process through which workers send their heartbeats. */
  List<Periodic> ofServer(Timings timings, Metrics metrics) {
    return tasks(new Reaper(this, timings, metrics, nanos).waitingFirst(), timings);
  }

  private List<Periodic> tasks(Reaper reaper, Timings timings) {
    List<Periodic> tasks = new ArrayList<>();
    tasks.add(task("sweep", timings.sweep(), reaper::runOnce));
    tasks.add(task("history", HISTORY, this::sumUpHistory));
    if (deleteOldJobs != null) {
      tasks.add(task("retention", timings.sweep(), deleteOldJobs::runIfDue));
    }
    tasks.add(task("schedules", timings.sweep(), () -> fireSchedules(timings.sweep())));
    return tasks;
  }

  private static Periodic task(String name, Duration retry, Supplier<Duration> round) {
    return new Periodic(name, () -> translated(round), retry);
  }

  // ---- the sweep

  @Override
  public void promote() {
    maintenance.promote();
  }

  /** Page after page until none is found: many workers may have died at the same time. */
  @Override
  public Map<String, Integer> reapAndExpire(Duration grace) {
    Map<String, Integer> recovered = new HashMap<>();
    ReapResult lost;
    ReapResult late;
    int pages = 0;
    do {
      lost = maintenance.reap(grace);
      late = maintenance.expire();
      recovered.merge("stale", lost.requeued().size(), Integer::sum);
      recovered.merge("ended", lost.ended().size(), Integer::sum);
      recovered.merge("timeout", count(late), Integer::sum);
    } while (count(lost) + count(late) > 0 && ++pages < MOST_PAGES);
    return recovered;
  }

  @Override
  public Map<String, Integer> expireCancelled(Duration age) {
    return Map.of("timeout", count(maintenance.expireCancelled(age)));
  }

  private static int count(ReapResult reaped) {
    return reaped.requeued().size() + reaped.ended().size();
  }

  // ---- beside it

  /** After a long pause there may be much to sum up: then a round does some of it. */
  Duration sumUpHistory() {
    long until = nanos.getAsLong() + HISTORY_ROUND.toNanos();
    boolean more;
    do {
      more = maintenance.sumUpHistory();
    } while (more && nanos.getAsLong() - until < 0);
    return more ? REST_OF_HISTORY : HISTORY;
  }

  /** At the time of the next schedule; one that is set meanwhile is seen with the next sweep. */
  private Duration fireSchedules(Duration sweep) {
    Duration atLatest = Loop.jittered(sweep);
    return maintenance
        .fireOnTime()
        .map(due -> due.plusMillis(ThreadLocalRandom.current().nextInt(SPREAD_MILLIS)))
        .filter(due -> due.compareTo(atLatest) < 0)
        .orElse(atLatest);
  }
}
