package dev.holdfast.model.ops;

import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.value.Plural;
import dev.holdfast.model.value.Text;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What an operator should know without having asked for it, and what to do about it: the one set of
 * rules behind {@code holdfast health}, {@code /v1/info} and the topic {@code system:health}.
 */
public final class Diagnosis {
  /** A job that is due longer than this would have been taken if anybody were there. */
  private static final Duration TAKEN_WITHIN = Duration.ofMinutes(1);

  /** A worker that is there and does nothing is known for it sooner. */
  private static final Duration IDLE_WITHIN = Duration.ofSeconds(30);

  private static final Duration STARTED_WITHIN = Duration.ofSeconds(30);
  private static final int CRASH_LOOP = 2;

  /**
   * All that is looked at, as one look at the database found it.
   *
   * @param waitedFor queues that somebody waits at, as far as this process knows
   * @param allPausedSince null when not all workers are paused
   */
  public record Facts(
      List<QueueStatus> queues,
      WorkerFleet crew,
      Warnings warnings,
      List<ScheduleStatus> schedules,
      Set<String> waitedFor,
      @Nullable Instant allPausedSince) {
    public Facts {
      queues = List.copyOf(queues);
      schedules = List.copyOf(schedules);
      waitedFor = Set.copyOf(waitedFor);
    }
  }

  private final Facts facts;
  private final Map<String, QueueStatus> queues;
  private final Set<String> silent;
  private final List<Finding> found = new ArrayList<>();

  /** Queues whose trouble is explained by their workers'. */
  private final Set<String> explained = new HashSet<>();

  private Diagnosis(Facts facts) {
    this.facts = facts;
    this.queues =
        facts.queues().stream().collect(Collectors.toMap(QueueStatus::name, queue -> queue));
    this.silent = facts.crew().silentSupervisors();
  }

  /** The gravest first. */
  public static List<Finding> of(Facts facts) {
    Diagnosis diagnosis = new Diagnosis(facts);
    diagnosis.all();
    return List.copyOf(diagnosis.found);
  }

  private void all() {
    allPaused();
    silent.stream().sorted().forEach(this::supervisor);
    Map<WorkerHealth, Holder> held = facts.crew().held();
    facts.crew().processes().stream()
        .filter(process -> !silent.contains(process.supervisor()))
        .forEach(process -> process(process, held.containsKey(process)));
    facts.crew().alone(held).forEach(this::holder);
    facts.queues().forEach(this::queue);
    warnings(facts.warnings());
    facts.schedules().forEach(this::schedule);
  }

  private void allPaused() {
    long due = facts.queues().stream().mapToLong(QueueStatus::due).sum();
    if (facts.allPausedSince() != null && due > 0) {
      found.add(
          Finding.counting(
              "all_paused",
              "all workers are paused, since " + facts.allPausedSince() + ", and ",
              due,
              " waits",
              " wait",
              "resume them with 'holdfast workers resume --all'",
              "resume them with POST /v1/workers/resume"));
    }
  }

  // ---- worker processes

  private void supervisor(String name) {
    List<WorkerHealth> own =
        facts.crew().processes().stream().filter(row -> row.supervisor().equals(name)).toList();
    own.forEach(row -> explained.add(row.queue()));
    found.add(
        Finding.of(
            "supervisor_silent",
            "supervisor '%s' is not heard of any more, nor are its workers: %s"
                .formatted(
                    name,
                    own.stream()
                        .map(WorkerHealth::component)
                        .limit(10)
                        .collect(Collectors.joining(", "))),
            "look at its machine, and start it again there with 'holdfast supervise'; jobs its"
                + " workers held go back by themselves when their leases run out"));
  }

  private void process(WorkerHealth row, boolean holdsJobs) {
    switch (row.status()) {
      case STARTING -> {
        if (row.restarts() >= CRASH_LOOP && row.isStartedAfterCrash()) {
          crashLoop(row);
        } else if (row.age().compareTo(STARTED_WITHIN) > 0) {
          starting(row);
        }
      }
      case HEALTHY -> {
        if (row.reason() != null && !row.isSilent()) {
          overdue(row, row.reason());
        }
        if (row.isSilent()) {
          quiet(row);
        } else if (row.paused()) {
          paused(row);
        } else if (!holdsJobs && row.currentJob() == null) {
          idle(row);
        }
      }
      case STOPPING -> {
        if (row.isStopped()) {
          stopped(row);
        }
      }
      case CRASHED -> {
        if (row.restarts() >= CRASH_LOOP) {
          crashLoop(row);
        }
      }
      case FAILED -> failed(row);
    }
  }

  private void found(WorkerHealth row, String code, String what, String doNext, String overHttp) {
    explained.add(row.queue());
    found.add(Finding.of(code, name(row) + " " + what, doNext, overHttp));
  }

  /** With its supervisor where another one has such a component, too. */
  private String name(WorkerHealth row) {
    boolean alone =
        facts.crew().processes().stream()
                .filter(other -> other.component().equals(row.component()))
                .count()
            == 1;
    return alone ? row.component() : row.component() + " of supervisor '" + row.supervisor() + "'";
  }

  private static String log(WorkerHealth row) {
    return "'holdfast logs " + row.component() + "'";
  }

  private static String order(WorkerHealth row, String action) {
    return "'holdfast workers " + action + " " + row.component() + "'";
  }

  private static String post(WorkerHealth row, String action) {
    return "POST /v1/workers/" + row.component() + "/" + action;
  }

  /** The reason has the exit code where that is all there is to say. */
  private static String exit(WorkerHealth row) {
    return row.reason() == null ? "for a reason unknown" : row.reason();
  }

  private static String advice(WorkerHealth row) {
    // One that its supervisor killed has the exit code of that, which explains nothing.
    Integer exit = row.exitCode();
    String advice =
        exit == null || !exit(row).contains(WorkerExit.shown(exit))
            ? "nothing"
            : WorkerExit.of(exit).doNext();
    return advice.equals("nothing") ? "" : " (" + advice + ")";
  }

  private void starting(WorkerHealth row) {
    found(
        row,
        "worker_starting",
        "has been starting for more than %d seconds".formatted(STARTED_WITHIN.toSeconds()),
        "see what it waits for with %s: its handlers, or the database; %s starts it anew"
            .formatted(log(row), order(row, "restart")),
        "see what it waits for with %s on its machine; %s starts it anew"
            .formatted(log(row), post(row, "restart")));
  }

  private void quiet(WorkerHealth row) {
    found(
        row,
        "worker_silent",
        "is not heard of any more",
        "its supervisor is about to start it again; see " + log(row),
        "its supervisor is about to start it again; see " + log(row) + " on its machine");
  }

  /** Explains nothing about its queue: the worker goes on with other jobs. */
  private void overdue(WorkerHealth row, String trouble) {
    found.add(
        new Finding(
            "handler_overdue",
            name(row) + " has a handler that goes on although it was given up",
            name(row) + " is healthy, but " + trouble,
            "its process is started anew before long, or at once with %s; let the handler look at"
                    .formatted(order(row, "restart"))
                + " context.isCancelled()",
            "its process is started anew before long, or at once with %s; let the handler look at"
                    .formatted(post(row, "restart"))
                + " context.isCancelled()"));
  }

  private void crashLoop(WorkerHealth row) {
    String next =
        row.nextRestart() == null ? "is being started" : "is started again at " + row.nextRestart();
    found(
        row,
        "worker_crash_loop",
        "keeps crashing: %s; it was started again %s, and %s"
            .formatted(exit(row), Plural.of(row.restarts(), "time"), next),
        "see %s%s; %s gives you time to mend it"
            .formatted(log(row), advice(row), order(row, "stop")),
        "see %s on its machine%s; %s gives you time to mend it"
            .formatted(log(row), advice(row), post(row, "stop")));
  }

  private void failed(WorkerHealth row) {
    found(
        row,
        "worker_failed",
        "has failed, and nobody starts it again: " + exit(row),
        "look at its log with %s%s, mend it, then %s"
            .formatted(log(row), advice(row), order(row, "resume")),
        "look at its log with %s on its machine%s, mend it, then %s"
            .formatted(log(row), advice(row), post(row, "resume")));
  }

  private void paused(WorkerHealth row) {
    if (waits(row.queue(), IDLE_WITHIN)) {
      found(
          row,
          "worker_paused",
          "is paused and jobs of its queue wait",
          "resume it with " + order(row, "resume"),
          "resume it with " + post(row, "resume"));
    }
  }

  private void stopped(WorkerHealth row) {
    boolean served =
        facts.waitedFor().contains(row.queue())
            || facts.crew().holders().stream().anyMatch(h -> h.queues().contains(row.queue()))
            || facts.crew().processes().stream()
                .anyMatch(other -> other.queue().equals(row.queue()) && !other.isStopped());
    if (!served && waits(row.queue(), Duration.ZERO)) {
      found(
          row,
          "worker_stopped",
          "is stopped, jobs of its queue wait, and nobody else serves it",
          "start it again with " + order(row, "resume"),
          "start it again with " + post(row, "resume"));
    }
  }

  private void idle(WorkerHealth row) {
    QueueStatus queue = queues.get(row.queue());
    if (queue == null || isHeldBack(queue) || row.age().compareTo(IDLE_WITHIN) <= 0) {
      return;
    }
    // A key may hold jobs back for as long as others of it run: nobody is to blame for those.
    Duration oldest = queue.oldestFree();
    if (oldest != null && oldest.compareTo(IDLE_WITHIN) > 0) {
      found(
          row,
          "worker_not_processing",
          "is healthy and idle although jobs of its queue have waited for more than %d seconds"
              .formatted(IDLE_WITHIN.toSeconds()),
          "see why with %s, then %s".formatted(log(row), order(row, "restart")),
          "see why with %s on its machine, then %s".formatted(log(row), post(row, "restart")));
    }
  }

  private boolean isHeldBack(QueueStatus queue) {
    Integer most = queue.maxRunning();
    return facts.allPausedSince() != null
        || queue.pausedAt() != null
        || queue.rateLimit() != null
        || (most != null && queue.running() >= most);
  }

  /** Whether jobs wait that only a worker is missing for. */
  private boolean waits(String name, Duration longerThan) {
    QueueStatus queue = queues.get(name);
    if (queue == null || facts.allPausedSince() != null || queue.pausedAt() != null) {
      return false;
    }
    Duration oldest = queue.oldest();
    return queue.due() > 0 && oldest != null && oldest.compareTo(longerThan) > 0;
  }

  private void holder(Holder holder) {
    if (holder.isSilent(facts.crew().now())) {
      found.add(
          Finding.of(
              "worker_silent",
              holder.worker().startsWith(Dispatch.WORKER)
                  ? "a worker that queue '%s' is pushed to is not heard of any more"
                      .formatted(holder.worker().substring(Dispatch.WORKER.length()))
                  : "worker '%s' is not heard of any more"
                      .formatted(Text.excerpt(holder.worker(), 200)),
              "look at its machine; its jobs go back by themselves"));
    }
  }

  // ---- queues, jobs and schedules

  private void queue(QueueStatus queue) {
    boolean paused = queue.pausedAt() != null || facts.allPausedSince() != null;
    DispatchTrouble trouble = queue.trouble();
    if (trouble != null && !paused) {
      notPushed(queue, trouble);
    }
    if (queue.due() == 0) {
      return;
    }
    Duration oldest = queue.oldest();
    if (queue.pausedAt() != null) {
      found.add(
          Finding.counting(
              "queue_paused",
              "queue '%s' is paused and ".formatted(queue.name()),
              queue.due(),
              " waits in it",
              " wait in it",
              "resume it with 'holdfast queues resume %s'".formatted(queue.name()),
              "resume it with POST /v1/queues/%s/resume".formatted(queue.name())));
    } else if (facts.allPausedSince() == null
        && queue.running() == 0
        && oldest != null
        && oldest.compareTo(TAKEN_WITHIN) > 0
        && !facts.waitedFor().contains(queue.name())
        && !explained.contains(queue.name())) {
      if (queue.pushed()) {
        found.add(
            Finding.counting(
                "queue_stalled",
                "",
                queue.due(),
                " of queue '%s' is due and no server pushes it".formatted(queue.name()),
                " of queue '%s' are due and no server pushes them".formatted(queue.name()),
                "servers push this queue's tasks: start one with 'holdfast server', or look into"
                    + " the logs of those that run",
                "servers push this queue's tasks: look into their logs"));
        return;
      }
      String doNext = "start a worker for it: holdfast worker --queue " + queue.name();
      found.add(
          Finding.counting(
              "queue_stalled",
              "",
              queue.due(),
              " of queue '%s' is due and no worker takes it".formatted(queue.name()),
              " of queue '%s' are due and no worker takes them".formatted(queue.name()),
              doNext,
              doNext));
    }
  }

  /** Tasks of a refused secret have failed, and nothing may wait any more. */
  private void notPushed(QueueStatus queue, DispatchTrouble trouble) {
    boolean waits = queue.due() + queue.delayed() + queue.retrying() > 0;
    if (!waits && trouble.kind() != DispatchTrouble.Kind.SECRET_REFUSED) {
      return;
    }
    explained.add(queue.name());
    String name = queue.name();
    String set = "PUT /v1/queues/%s/dispatch".formatted(name);
    String since =
        ", since %s (%s)%s"
            .formatted(
                trouble.since(),
                trouble.cause(),
                trouble.paused() ? "; pushing pauses, up to a minute between single tries" : "");
    switch (trouble.kind()) {
      case UNREACHABLE ->
          notPushed(
              "dispatch_unreachable",
              "the worker that queue '%s' is pushed to does not answer".formatted(name) + since,
              "start what listens at its dispatch URL (GET /v1/queues/%s shows it), or set another"
                      .formatted(name)
                  + " with "
                  + set
                  + "; its tasks are tried again by themselves");
      case FAILING ->
          notPushed(
              "dispatch_failing",
              "the worker that queue '%s' is pushed to takes no tasks".formatted(name) + since,
              "look into the log of what listens at its dispatch URL (GET /v1/queues/%s shows it);"
                      .formatted(name)
                  + " its tasks are tried again by themselves");
      case SECRET_REFUSED ->
          notPushed(
              "dispatch_secret_refused",
              "the worker that queue '%s' is pushed to refuses the dispatch secret".formatted(name)
                  + since,
              "give both the same secret, here with "
                  + set
                  + ", then put back the tasks that failed with DISPATCH_REFUSED");
      case NOT_ALLOWED ->
          notPushed(
              "dispatch_not_allowed",
              "queue '%s' is to be pushed to a host that servers may not push to".formatted(name)
                  + since,
              "name the host in HOLDFAST_DISPATCH_ALLOW of every server, or set another URL with "
                  + set);
    }
  }

  private void notPushed(String code, String what, String doNext) {
    found.add(Finding.of(code, what, doNext));
  }

  private void warnings(Warnings warnings) {
    if (warnings.toxic() > 0) {
      found.add(
          Finding.counting(
              "toxic_jobs",
              "",
              warnings.toxic(),
              " crashed its workers and was given up within the last hour (TOXIC_JOB)",
              " crashed their workers and were given up within the last hour (TOXIC_JOB)",
              "'holdfast jobs list --state failed' names them TOXIC_JOB, 'holdfast jobs show ID' tells"
                  + " what became of each attempt; put back what is mended with 'holdfast jobs"
                  + " retry ID'",
              "list them with GET /v1/jobs?state=FAILED&q=TOXIC_JOB, see their attempts with GET"
                  + " /v1/jobs/{id}/attempts, and put back what is mended with POST"
                  + " /v1/jobs/{id}/retry"));
    }
    if (warnings.failed() > 0) {
      found.add(
          Finding.counting(
              "jobs_failed",
              "",
              warnings.failed(),
              " failed within the last hour",
              " failed within the last hour",
              "look at why with 'holdfast jobs list --state failed', mend it, and put them back"
                  + " with 'holdfast jobs retry --state failed'",
              "look at why with GET /v1/jobs?state=FAILED, mend it, and put them back with"
                  + " POST /v1/jobs/retry"));
    }
    if (warnings.overdue() > 0) {
      found.add(
          Finding.counting(
              "leases_overdue",
              "",
              warnings.overdue(),
              " runs under a lease that ran out, and nobody takes it back",
              " run under leases that ran out, and nobody takes them back",
              "start a worker or a server, or look into the logs of those that run",
              "look into the logs of servers and workers: their upkeep does not reach the database"));
    }
  }

  private void schedule(ScheduleStatus status) {
    if (status.pausedAt() != null) {
      return;
    }
    if (status.broken() != null) {
      found.add(
          Finding.of(
              "schedule_broken",
              "schedule '%s' cannot be fired: %s".formatted(status.name(), status.broken()),
              "set it anew, or remove it; until then it is tried again every minute"));
    } else if (status.nextAt().plus(TAKEN_WITHIN).isBefore(facts.crew().now())) {
      found.add(
          Finding.of(
              "schedule_overdue",
              "schedule '%s' was due at %s and nobody fired it"
                  .formatted(status.name(), status.nextAt()),
              "start a worker or a server: either fires schedules"));
    }
  }
}
