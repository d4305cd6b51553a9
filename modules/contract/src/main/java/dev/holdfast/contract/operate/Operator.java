package dev.holdfast.contract.operate;

import dev.holdfast.contract.resource.InfoResource;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.ops.WorkerView;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * All that an operator can do, on the database itself or through a server. A value that is not
 * valid throws {@link dev.holdfast.model.value.RefusedException} or an {@link OperatorException}
 * with reason REFUSED; everything else that a server does not do is an {@link OperatorException}.
 */
public interface Operator extends JobOperator, AutoCloseable {
  List<QueueStatus> queues();

  /** One queue; one of which nothing is known is empty. */
  QueueStatus queue(String name);

  /** What was enqueued and ended; of the tenant of the key, through a server. */
  JobHistory history(JobHistory.Query query);

  default void pause(String queue) {
    pause(queue, Pause.Draft.UNKNOWN);
  }

  /** Through a server, under the name of the API key. */
  void pause(String queue, Pause.Draft pause);

  /** The queues that are paused by themselves, by name. */
  Map<String, Pause> pauses();

  /** False when the queue was not paused. */
  boolean resume(String queue);

  /** Null lifts the limit. */
  void limit(String queue, @Nullable Integer maxRunning);

  void rate(String queue, int starts, Duration span);

  void liftRate(String queue);

  List<ScheduleStatus> schedules();

  void schedule(Schedule schedule);

  /** Enqueues the job of a schedule now; empty when there is no such schedule. */
  Optional<Enqueued> runSchedule(String name);

  /** False when there is no such schedule, or it was paused before. */
  default boolean pauseSchedule(String name) {
    return pauseSchedule(name, Pause.Draft.UNKNOWN);
  }

  /** The same; through a server, under the name of the API key. */
  boolean pauseSchedule(String name, Pause.Draft pause);

  /** The schedules that are paused, by name. */
  Map<String, Pause> schedulePauses();

  /** False when there is no such schedule, or it was not paused. */
  boolean resumeSchedule(String name);

  boolean removeSchedule(String name);

  Statistics statistics();

  List<ApiKey> keys();

  /**
   * @param tenant whose jobs it sees; null is everybody's
   * @param lifetime null for a key without an end
   */
  NewKey createKey(String name, Role role, @Nullable String tenant, @Nullable Duration lifetime);

  /** False when there is no such key, or it is not valid any more. */
  boolean revokeKey(String id);

  /**
   * Replaces a key by a new one with the same rights and the same end; the old one is valid until
   * the overlap is over. Empty when there is no such key, or it is not valid any more.
   */
  Optional<NewKey> rotateKey(String id, Duration overlap);

  /** New task tokens are signed with a new key; tokens that are signed already stay valid. */
  void rotateSigningKey();

  Workers workers();

  /** Gives a command to worker processes; through a server, under the name of the API key. */
  List<WorkerCommand> command(WorkerCommand.Draft draft);

  /**
   * No worker claims a job from any queue; running jobs continue.
   *
   * @param requestedBy used on the database only, as in a command
   */
  void pauseAllWorkers(String requestedBy, String reason);

  /**
   * Ends that, and gives every worker process that has failed the command to start again.
   *
   * @param requestedBy used on the database only, as in a command
   */
  Resumed resumeAllWorkers(String requestedBy, String reason);

  Health health();

  @Override
  void close();

  /**
   * All workers that are known.
   *
   * @param pause of all of them; null when they are not paused
   */
  record Workers(@Nullable Pause pause, List<WorkerView> workers) {
    public Workers {
      workers = List.copyOf(workers);
    }

    /** Since when all of them are paused; null when they are not. */
    public @Nullable Instant workersPausedAt() {
      return pause == null ? null : pause.at();
    }
  }

  /**
   * @param workersWerePaused whether all workers were paused
   * @param commands to those that had failed
   */
  record Resumed(boolean workersWerePaused, List<WorkerCommand> commands) {
    public Resumed {
      commands = List.copyOf(commands);
    }
  }

  /**
   * @param about the versions of program, PostgreSQL and schema, for people
   * @param problems empty when all is well
   */
  record Health(String about, Workers workers, List<InfoResource.Problem> problems) {
    public Health {
      problems = List.copyOf(problems);
    }
  }

  /**
   * @param text what callers send; it cannot be read again later
   */
  record NewKey(String id, String text) {
    @Override
    public String toString() {
      return "key " + id;
    }
  }
}
