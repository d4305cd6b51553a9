package dev.holdfast.queue.wait;

import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.maintenance.Unblock;
import dev.holdfast.queue.notify.QueueNotifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Frees at once what waits for a job that has ended: jobs that depend on it, and its parent. On a
 * thread of its own and after the commit, so that no settle pays for it; all that end while it is
 * busy are looked at together, and only if any job waits for others at all. What is missed, because
 * the process dies in between, is found by an idle worker or a sweep.
 */
public final class EndedJobs implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(EndedJobs.class);

  /** Of more than these at once, the rest is left to workers that are idle and to sweeps. */
  private static final int MOST = 10_000;

  /** While no job waits for others, it is asked so rarely. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** Longer than it takes, but for very many jobs at once. */
  private static final long FREEING_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  // Or is about to wait: a parent whose child has ended runs, and may be being suspended. Where no
  // job
  // has a parent, the ended ones are not looked at.
  private static final Sql ANY_WAITS =
      Sql.of(
          """
          SELECT 1
           WHERE (SELECT w.queue FROM holdfast.job w
                   WHERE w.state = 'WAITING' AND (w.wait_sort IS NULL OR w.wait_sort = 'CHILDREN')
                   ORDER BY w.queue
                   LIMIT 1) IS NOT NULL
              OR (SELECT c.parent_id FROM holdfast.job c
                   WHERE c.parent_id IS NOT NULL
                   ORDER BY c.parent_id
                   LIMIT 1) IS NOT NULL
                 AND EXISTS (
                   SELECT FROM holdfast.job c JOIN holdfast.job p ON p.id = c.parent_id
                    WHERE c.id = ANY (:ended::uuid[]) AND c.started_as IS NOT NULL
                      AND p.state = 'RUNNING')
          """);

  private final Database database;
  private final QueueNotifier notifier;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Condition isFree = lock.newCondition();
  private List<JobId> ended = new ArrayList<>();
  private boolean closed;
  private volatile boolean nobodyWaited;
  private volatile boolean freeing;
  private final AtomicLong freed = new AtomicLong();
  private @Nullable Thread looking;

  /**
   * @param looks false where nothing is freed at once
   */
  public EndedJobs(Database database, QueueNotifier notifier, boolean looks) {
    this.database = database;
    this.notifier = notifier;
    this.closed = !looks;
  }

  /** Called after the commit. Some of the jobs may not have ended. */
  public void add(Collection<JobId> jobs) {
    if (jobs.isEmpty()) {
      return;
    }
    lock.lock();
    try {
      if (closed || ended.size() >= MOST) {
        return;
      }
      ended.addAll(jobs);
      if (looking == null) {
        looking = Thread.ofPlatform().daemon().name("holdfast-ended-jobs").start(this::look);
      }
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  private void look() {
    List<JobId> next;
    while ((next = next()) != null) {
      try {
        free(next);
      } catch (RuntimeException e) {
        log.debug("could not look for jobs that wait: workers and sweeps will find them", e);
      }
    }
  }

  /**
   * Frees what nobody has freed: a process died between the end of a job and {@link #add}.
   *
   * @param queue null for all
   * @return the queue of each job that can be claimed now
   */
  public List<String> freeMissed(@Nullable String queue) {
    Unblock.Unblocked unblocked = Unblock.ready(database, queue);
    WakeParents.Woken woken = WakeParents.missed(database, queue);
    add(unblocked.ended());
    add(woken.ended());
    List<String> queues = new ArrayList<>(unblocked.queues());
    queues.addAll(woken.queues());
    return queues;
  }

  /** How often jobs were freed, for {@link #freedSince}. */
  public long freed() {
    return freed.get();
  }

  /**
   * Whether jobs were freed since then. Waits a moment for those that are being freed: their rows
   * are locked, so a claim has passed them over.
   */
  public boolean freedSince(long before) {
    long left = FREEING_NANOS;
    lock.lock();
    try {
      while (freeing && left > 0) {
        left = isFree.awaitNanos(left);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
    return freeing || freed.get() != before;
  }

  private void freeing(boolean now) {
    lock.lock();
    try {
      freeing = now;
      isFree.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void free(List<JobId> jobs) {
    nobodyWaited =
        !database.run(
            "anyWaits",
            connection ->
                ANY_WAITS.on(connection).array("ended", "uuid", jobs, job -> job).found());
    if (nobodyWaited) {
      return;
    }
    List<JobId> locked;
    freeing(true);
    try {
      List<String> unblocked = Unblock.dependingOn(database, jobs).queues();
      WakeParents.Woken woken = WakeParents.ofEnded(database, jobs);
      locked = woken.locked();
      freed(unblocked, woken.queues());
      add(woken.ended());
    } finally {
      freeing(false);
    }
    if (!locked.isEmpty()) {
      WakeParents.Woken woken = WakeParents.locked(database, locked);
      freed(woken.queues(), List.of());
      add(woken.ended());
    }
  }

  private void freed(List<String> some, List<String> others) {
    Set<String> queues = new HashSet<>(some);
    queues.addAll(others);
    if (!queues.isEmpty()) {
      freed.incrementAndGet();
    }
    notifier.send(queues);
  }

  private @Nullable List<JobId> next() {
    lock.lock();
    try {
      long pause = nobodyWaited ? PAUSE_NANOS : 0;
      while (!closed && pause > 0) {
        pause = awaitNanos(pause);
      }
      while (ended.isEmpty()) {
        if (closed) {
          return null;
        }
        changed.awaitUninterruptibly();
      }
      List<JobId> jobs = ended;
      ended = new ArrayList<>();
      return jobs;
    } finally {
      lock.unlock();
    }
  }

  @SuppressWarnings("WaitNotInLoop") // the caller loops
  private long awaitNanos(long pause) {
    try {
      return changed.awaitNanos(pause);
    } catch (InterruptedException nobodyDoes) {
      return 0;
    }
  }

  /** Looks at those that have ended by now, for a while. */
  @Override
  public void close() {
    Thread thread;
    lock.lock();
    try {
      closed = true;
      changed.signal();
      thread = looking;
    } finally {
      lock.unlock();
    }
    try {
      if (thread != null) {
        thread.join(TimeUnit.SECONDS.toMillis(5));
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
