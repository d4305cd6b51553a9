package dev.holdfast.server.worker;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.ProgressThrottle;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.jdbc.GroupCommit;
import dev.holdfast.server.http.Problem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Extends leases over HTTP: all heartbeats that come at the same moment in one statement. */
public final class HeartbeatBatcher {
  private static final int MOST_CACHED = 100_000;
  private static final Duration START_WITHIN = Duration.ofSeconds(10);
  private static final Duration BUSY_PAUSE = Duration.ofMillis(5);

  /**
   * One heartbeat.
   *
   * @param progress null if it has none
   * @param startedBy the worker that begins the attempt; null if it has begun
   */
  record Beat(Lease lease, Report.@Nullable Progress progress, @Nullable String startedBy) {}

  private final JobQueue queue;
  private final LongSupplier nanos;
  private final GroupCommit<Beat, HeartbeatResult> batches = new GroupCommit<>(1, this::all);
  private final Cache<Lease, ProgressThrottle> throttles =
      Caffeine.newBuilder().maximumSize(MOST_CACHED).build();

  public HeartbeatBatcher(JobQueue queue, LongSupplier nanos) {
    this.queue = queue;
    this.nanos = nanos;
  }

  HeartbeatResult beat(Beat beat) {
    return batches.ask(beat);
  }

  /**
   * The heartbeat before a worker begins. A transaction that holds the job's row may be releasing
   * it, in which case the start must be refused; so this waits for that transaction, which is
   * short.
   */
  HeartbeatResult start(Lease attempt, String worker) throws InterruptedException {
    long until = nanos.getAsLong() + START_WITHIN.toNanos();
    while (true) {
      HeartbeatResult result = beat(new Beat(attempt, null, worker));
      if (!result.rowLocked()) {
        return result;
      }
      if (nanos.getAsLong() - until > 0) {
        throw new Problem(503, "database_busy", "the task is being written: try again")
            .header("Retry-After", "1");
      }
      Thread.sleep(BUSY_PAUSE);
    }
  }

  private List<HeartbeatResult> all(List<Beat> heartbeats) {
    Map<Lease, String> startedBy = new HashMap<>();
    for (Beat beat : heartbeats) {
      if (beat.startedBy() != null) {
        startedBy.putIfAbsent(beat.lease(), beat.startedBy());
      }
    }
    Map<Lease, HeartbeatResult> results = new HashMap<>();
    for (HeartbeatResult result :
        queue.heartbeat(heartbeats.stream().map(Beat::lease).distinct().toList(), startedBy)) {
      results.put(result.lease(), result);
    }
    List<Report> worthWriting = new ArrayList<>();
    for (Beat beat : heartbeats) {
      Report.Progress progress = beat.progress();
      HeartbeatResult result = results.get(beat.lease());
      if (progress != null
          && result != null
          && result.ack() == Ack.ACCEPTED
          && isWorthWriting(beat.lease(), progress.percent())) {
        worthWriting.add(progress);
      }
    }
    queue.report(worthWriting);
    return heartbeats.stream()
        .map(
            beat ->
                results.getOrDefault(
                    beat.lease(), new HeartbeatResult(beat.lease(), Ack.LEASE_LOST, null)))
        .toList();
  }

  private boolean isWorthWriting(Lease attempt, @Nullable Integer percent) {
    return throttles.get(attempt, each -> new ProgressThrottle(nanos)).lets(percent);
  }
}
