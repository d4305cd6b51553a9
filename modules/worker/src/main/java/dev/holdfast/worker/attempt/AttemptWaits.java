package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.ChildEnd;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.model.wait.WaitEnd;
import dev.holdfast.worker.handler.Child;
import dev.holdfast.worker.handler.LeaseLostException;
import dev.holdfast.worker.source.RetryingSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The waits of one attempt, and the jobs that it starts. What is over is read from the steps; any
 * other wait is asked for, and unless it is over the attempt ends there. Then the handler is left
 * by an error, and gets it again from whatever it asks for if it goes on.
 */
final class AttemptWaits {
  private static final int PART = 1_000;

  private final LeasedJob job;
  private final Codec codec;
  private final RetryingSource source;
  private final AttemptSteps steps;
  private final AttemptReports reports;
  private final StopSignal stop;
  private final HandlerThread thread;
  private final Runnable lost;
  private final Set<String> asked = ConcurrentHashMap.newKeySet();
  private final Set<String> stepsRun = ConcurrentHashMap.newKeySet();
  private volatile boolean asking;
  private volatile @Nullable SuspendedError suspended;

  AttemptWaits(
      LeasedJob job,
      Codec codec,
      RetryingSource source,
      AttemptSteps steps,
      AttemptReports reports,
      StopSignal stop,
      HandlerThread thread,
      Runnable lost) {
    this.job = job;
    this.codec = codec;
    this.source = source;
    this.steps = steps;
    this.reports = reports;
    this.stop = stop;
    this.thread = thread;
    this.lost = lost;
  }

  /** Leaves the handler. An error, because handlers may well catch exceptions. */
  static final class SuspendedError extends Error {
    private static final long serialVersionUID = 1L;

    SuspendedError(String id) {
      super("the job waits for '" + id + "'", null, false, false);
    }
  }

  /**
   * What a wait has brought.
   *
   * @param payload of a signal
   */
  record Over(WaitEnd end, @Nullable Json payload) {}

  /** Whether the attempt has ended by a wait. */
  boolean isSuspended() {
    return suspended != null;
  }

  /** Whether the attempt has ended by a wait, or may have: its answer is on the way. */
  boolean mayBeSuspended() {
    return asking || suspended != null;
  }

  /** Throws in a handler that has gone on although its attempt has ended. */
  void checkNotSuspended() {
    SuspendedError ended = suspended;
    if (ended != null) {
      throw ended;
    }
  }

  Over await(Wait wait) {
    StepStatus before = begin(wait.id());
    WaitEnd known = before.waitEnd();
    if (before.isDone() && !steps.isAskedFor(before)) {
      return new Over(mustBe(known, wait), before.checkpoint());
    }
    reports.awaitAllWritten();
    asking = true;
    try {
      WaitAnswer answer =
          source.ask(it -> it.suspend(new Suspension(job.lease(), before.index(), wait)));
      return switch (answer) {
        case WaitAnswer.Over(var end, var payload) -> new Over(end, payload);
        case WaitAnswer.Suspended() -> throw left(wait.id());
        case WaitAnswer.LeaseLost() -> throw leaseLost();
      };
    } finally {
      asking = false;
    }
  }

  private SuspendedError left(String id) {
    SuspendedError error = new SuspendedError(id);
    suspended = error;
    return error;
  }

  private LeaseLostException leaseLost() {
    asking = false;
    lost.run();
    return new LeaseLostException(job.lease());
  }

  private static WaitEnd mustBe(@Nullable WaitEnd known, Wait wait) {
    if (known == null
        || known.sort() != wait.sort()
        || known.outcome() == WaitEnd.Outcome.STARTED) {
      throw new IllegalStateException(
          "'%s' was %s before, and is a wait of the sort %s now: give it another id"
              .formatted(
                  wait.id(),
                  known == null
                      ? "a step"
                      : known.outcome() == WaitEnd.Outcome.STARTED
                          ? "a start of jobs"
                          : "a wait of the sort " + known.sort(),
                  wait.sort()));
    }
    return known;
  }

  /** The status of a step or wait of this id, which the handler asks for once. */
  private StepStatus begin(String id) {
    checkNotSuspended();
    stop.check();
    reports.checkHolds("waits");
    if (!thread.isCurrent()) {
      throw new IllegalStateException(
          "'%s' would end the attempt in the middle of something: wait and start jobs in the handler itself, and neither in a step nor on a thread of your own"
              .formatted(id));
    }
    StepStatus status = steps.status(id);
    if (stepsRun.contains(id) || !asked.add(id)) {
      throw notItsOwn(id);
    }
    return status;
  }

  /** Enqueues these jobs, unless an attempt before has done it. */
  List<Child> start(String id, List<Job> jobs) {
    StepStatus before = begin(id);
    boolean there = before.isDone() && !steps.isAskedFor(before);
    int time = there ? before.attempt() : before.attempt() + 1;
    List<Job> children = new ArrayList<>();
    for (Job each : jobs) {
      children.add(each.encoded(codec).id(JobId.ofChild(job.id(), id, time, children.size())));
    }
    if (there) {
      mustBeAsMany(before, jobs.size());
    } else {
      reports.awaitWritten();
      for (int from = 0; from < Math.max(1, children.size()); from += PART) {
        int to = Math.min(children.size(), from + PART);
        Children part =
            new Children(
                job.lease(),
                id,
                before.index(),
                children.subList(from, to),
                to == children.size() ? children.size() : 0);
        if (source.ask(it -> it.startChildren(part)) == Ack.LEASE_LOST) {
          throw leaseLost();
        }
      }
    }
    return children.stream().map(each -> new Child(each.id(), id)).toList();
  }

  private static void mustBeAsMany(StepStatus before, int jobs) {
    WaitEnd known = before.waitEnd();
    if (known == null || known.outcome() != WaitEnd.Outcome.STARTED) {
      throw new IllegalStateException(
          "'%s' was another step or wait before: give it another id".formatted(before.id()));
    }
    if (!Integer.valueOf(jobs).equals(known.jobs())) {
      throw new IllegalStateException(
          "'%s' has started %s jobs in an attempt before, and would start %s now: what it starts must follow from the payload and from steps"
              .formatted(before.id(), known.jobs(), jobs));
    }
  }

  /** How these have ended, in their order. */
  List<ChildEnd> ends(List<Child> children) {
    List<ChildEnd> ends = new ArrayList<>();
    for (int from = 0; from < children.size(); from += PART) {
      List<JobId> part =
          children.subList(from, Math.min(children.size(), from + PART)).stream()
              .map(Child::id)
              .toList();
      ends.addAll(source.ask(it -> it.children(job.lease(), part)));
    }
    return ends;
  }

  private static IllegalStateException notItsOwn(String id) {
    return new IllegalStateException(
        "'%s' was asked for in this attempt: each step, wait and start of jobs needs an id of its own"
            .formatted(id));
  }

  /** Before a step is run. */
  void beforeStep(String id) {
    checkNotSuspended();
    if (asked.contains(id)) {
      throw notItsOwn(id);
    }
    stepsRun.add(id);
  }

  /** The handler is called again in the same attempt. */
  void beginAgain() {
    asked.clear();
    stepsRun.clear();
  }
}
