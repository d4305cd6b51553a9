package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.worker.handler.Child;
import dev.holdfast.worker.handler.JobWaits;
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
final class AttemptWaits implements JobWaits {
  private static final int PART = 1_000;

  private final LeasedJob job;
  private final Codec codec;
  private final RetryingSource source;
  private final AttemptSteps steps;
  private final AttemptReports reports;
  private final StopSignal stop;
  private final HandlerThread thread;
  private final Runnable lost;
  private final Set<Child> started = ConcurrentHashMap.newKeySet();

  /**
   * Those of the job that this one is a fork of: they have ended, and nobody would wake this one.
   */
  private final Set<Child> endedBefore = ConcurrentHashMap.newKeySet();

  private volatile boolean asking;
  private volatile @Nullable SuspendedError suspended;
  private volatile @Nullable Json next;

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

  /**
   * Leaves the handler, for a wait or for good. An error, because handlers may well catch
   * exceptions.
   */
  static final class SuspendedError extends Error {
    private static final long serialVersionUID = 1L;

    SuspendedError(String why) {
      super(why, null, false, false);
    }
  }

  /** Whether the attempt has ended by a wait. */
  boolean isSuspended() {
    return suspended != null && next == null;
  }

  /** Whether the handler was left, by a wait or to go on as another job. */
  boolean isLeft() {
    return suspended != null;
  }

  /** The payload with which another job goes on; null unless the handler has said so. */
  @Nullable Json next() {
    return next;
  }

  /** Whether the attempt has ended by a wait, or may have: its answer is on the way. */
  boolean mayBeSuspended() {
    return asking || isSuspended();
  }

  /** Throws in a handler that has gone on although its attempt has ended. */
  void checkNotSuspended() {
    SuspendedError ended = suspended;
    if (ended != null) {
      throw ended;
    }
  }

  @Override
  public List<StepStatus> begin() {
    checkAllowed("a call");
    return steps.beginCall();
  }

  @Override
  public Over await(Wait wait) {
    return await(wait, begin(wait.id()));
  }

  @Override
  public Over await(int index, Wait wait) {
    checkAllowed(wait.id());
    return await(wait, steps.at(wait.id(), index));
  }

  private Over await(Wait wait, StepStatus before) {
    if (before.isDone() && !steps.isAskedFor(before)) {
      return new Over(mustBe(before, wait), before.checkpoint());
    }
    StepStatus now = steps.again(before);
    Wait asked = reports.redacted(wait);
    reports.awaitAllWritten();
    asking = true;
    try {
      WaitAnswer answer =
          source.ask(it -> it.suspend(new Suspension(job.lease(), now.index(), asked)));
      return switch (answer) {
        case WaitAnswer.Over(var end, var payload) -> {
          steps.ended(wait.id(), end, payload);
          yield new Over(end, payload);
        }
        case WaitAnswer.Suspended() -> throw left(wait.id());
        case WaitAnswer.LeaseLost() -> throw leaseLost();
      };
    } finally {
      asking = false;
    }
  }

  private SuspendedError left(String id) {
    return leaving("the job waits for '" + id + "'");
  }

  private SuspendedError leaving(String why) {
    SuspendedError error = new SuspendedError(why);
    suspended = error;
    return error;
  }

  /** Another job goes on with this payload, once the handler is left. */
  SuspendedError continueAs(Json payload) {
    checkNotSuspended();
    stop.check();
    reports.checkHolds("a job that goes on");
    checkThread("continueAs");
    next = payload;
    return leaving("the job goes on as another one");
  }

  private void checkThread(String what) {
    if (!thread.isCurrent()) {
      throw new IllegalStateException(
          "'%s' would end the attempt in the middle of something: wait, start jobs and go on as another job in the handler itself, and neither in a step nor on a thread of your own"
              .formatted(what));
    }
  }

  private LeaseLostException leaseLost() {
    asking = false;
    lost.run();
    return new LeaseLostException(job.lease());
  }

  private static WaitEnd mustBe(StepStatus before, Wait wait) {
    WaitEnd known = before.waitEnd();
    if (known == null || !before.isEndOf(wait)) {
      throw new IllegalStateException(
          "'%s' was %s before, and is a wait of the sort %s now: give it another id"
              .formatted(wait.id(), before.what(), wait.sort()));
    }
    return known;
  }

  /** The status of a step or wait of this id, which the handler asks for once. */
  private StepStatus begin(String id) {
    checkAllowed(id);
    return steps.ask(id);
  }

  private void checkAllowed(String what) {
    checkNotSuspended();
    stop.check();
    reports.checkHolds("waits");
    checkThread(what);
  }

  @Override
  public List<Child> start(String id, List<Job> jobs) {
    StepStatus found = begin(id);
    boolean there = found.isDone() && !steps.isAskedFor(found);
    StepStatus before = there ? found : steps.again(found);
    int time = there ? before.attempt() : before.attempt() + 1;
    JobId starter = there ? starterOf(before) : job.id();
    List<Job> children = new ArrayList<>();
    for (Job each : jobs) {
      children.add(each.encoded(codec).id(JobId.ofChild(starter, id, time, children.size())));
    }
    if (there) {
      mustBeAsMany(before, jobs.size());
    } else {
      reports.awaitWritten();
      for (Children part : parts(id, before.index(), children)) {
        if (source.ask(it -> it.startChildren(part)) == Ack.LEASE_LOST) {
          throw leaseLost();
        }
      }
    }
    List<Child> all = children.stream().map(each -> new Child(each.id(), id)).toList();
    started.addAll(all);
    if (!starter.equals(job.id())) {
      endedBefore.addAll(all);
    }
    return all;
  }

  private JobId starterOf(StepStatus started) {
    WaitEnd known = started.waitEnd();
    return known == null || known.job() == null ? job.id() : known.job();
  }

  /** Those of the jobs that this one may wait for. */
  List<Child> own(List<Child> children) {
    return children.stream().filter(child -> !endedBefore.contains(child)).toList();
  }

  /**
   * A wait for which there is nothing to wait any more. How it has ended for the job that this one
   * is a fork of, if it waited for it.
   */
  @Nullable WaitEnd passed(String id) {
    StepStatus before = begin(id);
    if (before.isDone() && !steps.isAskedFor(before)) {
      return before.waitEnd();
    }
    StepStatus unused = steps.again(before);
    return null;
  }

  /** All are valid before any is started. */
  private List<Children> parts(String id, int index, List<Job> children) {
    List<Children> parts = new ArrayList<>();
    for (int from = 0; from < Math.max(1, children.size()); from += PART) {
      int to = Math.min(children.size(), from + PART);
      parts.add(
          new Children(
              job.lease(),
              id,
              index,
              children.subList(from, to),
              to == children.size() ? children.size() : 0));
    }
    return parts;
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

  /** A wait for any other job might never end. */
  void checkStarted(List<Child> children) {
    for (Child child : children) {
      if (!started.contains(child)) {
        throw new IllegalArgumentException(
            "job %s was not started as '%s' by this one: wait for what spawn has returned"
                .formatted(child.id(), child.startedAs()));
      }
    }
  }

  @Override
  public List<ChildEnd> ends(StepStatus start, int from, int most) {
    Integer jobs = start.waitEnd() == null ? null : start.waitEnd().jobs();
    List<JobId> part = new ArrayList<>();
    for (int place = from; jobs != null && place < Math.min(jobs, from + most); place++) {
      part.add(JobId.ofChild(starterOf(start), start.id(), start.attempt(), place));
    }
    return part.isEmpty() ? List.of() : allOf(part);
  }

  /** How these have ended, in their order. */
  List<ChildEnd> ends(List<Child> children) {
    List<ChildEnd> ends = new ArrayList<>();
    for (int from = 0; from < children.size(); from += PART) {
      List<JobId> part =
          children.subList(from, Math.min(children.size(), from + PART)).stream()
              .map(Child::id)
              .toList();
      ends.addAll(allOf(part));
    }
    return ends;
  }

  private List<ChildEnd> allOf(List<JobId> children) {
    List<ChildEnd> found = source.ask(it -> it.children(job.lease(), children));
    if (found.size() < children.size()) {
      throw Kept.doesNotFit(
          "how the jobs have ended that were started before",
          "%,d of %,d have been deleted"
              .formatted(children.size() - found.size(), children.size()));
    }
    return found;
  }
}
