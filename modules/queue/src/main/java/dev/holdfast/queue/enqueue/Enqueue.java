package dev.holdfast.queue.enqueue;

import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.GroupCommit;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.notify.QueueNotifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Writes jobs, all or none: check and encode, write, notify. The ids come from the client, so the
 * same enqueue sent twice makes one job.
 */
public final class Enqueue {
  /** How long an enqueue waits for a unique key that another open transaction holds. */
  public static final Duration KEY_LOCK_TIMEOUT = Duration.ofSeconds(5);

  private static final Sql LIMIT_WAITS = Sql.of(Database.limitOnLocks(KEY_LOCK_TIMEOUT));

  private static final Sql LIFT_LIMIT = Sql.of("SELECT set_config('lock_timeout', '0', true)");

  /** More jobs than this are not notified in their own commit. */
  private static final int NOTIFIED_IN_COMMIT = 20;

  /** A job that is due within this time is notified: the worker learns how long to wait. */
  private static final Duration SOON = Duration.ofMinutes(1);

  private static final int WRITERS = 2;

  private final Database database;
  private final QueueNotifier notifier;
  private final Codec codec;
  private final EnqueueDefaults defaults;
  private final GroupCommit<EncodedJob, Enqueued> together =
      new GroupCommit<>(WRITERS, batch -> write(EncodedJob.checkTogether(batch)));

  public Enqueue(Database database, QueueNotifier notifier, Codec codec, EnqueueDefaults defaults) {
    this.database = database;
    this.notifier = notifier;
    this.codec = codec;
    this.defaults = defaults;
  }

  /** Shares statement and commit with what other threads enqueue at the same moment. */
  public Enqueued one(Job asked) {
    // Checked before it joins a batch, so that a refused job does not disturb the others.
    EncodedJob job = EncodedJob.of(asked, codec, defaults);
    return job.takesSeveralStatements() ? write(List.of(job)).getFirst() : together.ask(job);
  }

  public List<Enqueued> all(List<Job> asked) {
    return write(encoded(asked));
  }

  /** Commits, or not, with the caller's own writes. */
  public List<Enqueued> all(Connection connection, List<Job> asked) throws SQLException {
    List<EncodedJob> jobs = encoded(asked);
    Database.Work<List<Enqueued>> work =
        in -> {
          List<Enqueued> enqueued =
              anyUnique(jobs) ? withLockTimeout(in, jobs) : InsertJobs.all(in, jobs);
          Set<String> due = dueQueues(jobs);
          if (!due.isEmpty()) {
            QueueNotifier.sendWith(in, due);
          }
          return enqueued;
        };
    // A caller without a transaction still gets all or nothing.
    return connection.getAutoCommit()
        ? Database.inTransaction(connection, work)
        : work.on(connection);
  }

  /** With what was declared for its kind. */
  public Job declared(Job job) {
    return defaults.declared(job);
  }

  private List<EncodedJob> encoded(List<Job> asked) {
    if (asked.size() > Limits.BULK_JOBS) {
      throw new RefusedException(
          Refusal.TOO_MANY_JOBS,
          "%,d jobs at once are over the limit of %,d: enqueue them in several calls"
              .formatted(asked.size(), Limits.BULK_JOBS));
    }
    List<EncodedJob> jobs = new ArrayList<>(asked.size());
    for (Job job : asked) {
      try {
        jobs.add(EncodedJob.of(job, codec, defaults));
      } catch (RefusedException refused) {
        throw asked.size() == 1 ? refused : refused.at("jobs[" + jobs.size() + "]");
      }
    }
    return EncodedJob.checkTogether(jobs);
  }

  private List<Enqueued> write(List<EncodedJob> jobs) {
    Set<String> due = dueQueues(jobs);
    if (EnqueueFast.fits(jobs)) {
      // In a quiet moment the notification goes with the commit, which is sooner.
      boolean quiet = jobs.size() <= NOTIFIED_IN_COMMIT && notifier.isQuiet();
      String sender = quiet ? notifier.sender() : null;
      if (database.run("enqueue", in -> EnqueueFast.insert(in, jobs, sender))) {
        if (quiet) {
          notifier.wakeHere(due);
        } else {
          notifier.send(due);
        }
        return jobs.stream().map(each -> new Enqueued(each.id(), false)).toList();
      }
    }
    List<Enqueued> enqueued = writeGenerally(jobs);
    notifier.send(due);
    return enqueued;
  }

  private List<Enqueued> writeGenerally(List<EncodedJob> jobs) {
    Database.Work<List<Enqueued>> work = in -> InsertJobs.all(in, jobs);
    if (anyUnique(jobs)) {
      return database.transactWithin(KEY_LOCK_TIMEOUT, "enqueue", work);
    }
    // Of several jobs one may be refused when others have been written.
    return jobs.size() > 1 || jobs.stream().anyMatch(EncodedJob::takesSeveralStatements)
        ? database.transact("enqueue", work)
        : database.run("enqueue", work);
  }

  /** Bounds the waits of this enqueue alone, and not of what the caller does next. */
  private static List<Enqueued> withLockTimeout(Connection connection, List<EncodedJob> jobs)
      throws SQLException {
    boolean limited = LIMIT_WAITS.on(connection).found();
    List<Enqueued> enqueued = InsertJobs.all(connection, jobs);
    if (limited) {
      LIFT_LIMIT.on(connection).found();
    }
    return enqueued;
  }

  private static boolean anyUnique(List<EncodedJob> jobs) {
    return jobs.stream().anyMatch(EncodedJob::isUnique);
  }

  private static Set<String> dueQueues(List<EncodedJob> jobs) {
    Set<String> queues = new LinkedHashSet<>();
    for (EncodedJob each : jobs) {
      if (each.job().delay().compareTo(SOON) < 0) {
        queues.add(each.job().queue());
      }
    }
    return queues;
  }
}
