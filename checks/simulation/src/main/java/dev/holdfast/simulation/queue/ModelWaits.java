package dev.holdfast.simulation.queue;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.attempt.WaitEnd.Outcome;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.model.wait.WaitSort;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Jobs that wait for a time, a signal, a decision, or jobs that they have started. */
final class ModelWaits {
  private final ModelQueue queue;

  ModelWaits(ModelQueue queue) {
    this.queue = queue;
  }

  /** How a wait has ended, with what a signal or a person has brought. */
  private record Over(
      Outcome outcome,
      @Nullable JobId job,
      ModelJob.@Nullable Mail mail,
      @Nullable Decision decision,
      Wait asked) {
    Over(Outcome outcome, Wait asked) {
      this(outcome, null, null, null, asked);
    }

    WaitEnd end() {
      String by =
          mail != null ? given(mail.signal.by()) : decision == null ? null : given(decision.by());
      String comment = decision == null ? null : given(decision.comment());
      // When it ended is not compared; the handler of an approval asks for it.
      return new WaitEnd(asked.sort(), outcome, by, Instant.EPOCH, comment, job, null);
    }

    private static @Nullable String given(String text) {
      return text.isEmpty() ? null : text;
    }

    @Nullable Json payload() {
      return mail == null ? null : mail.signal.payload();
    }
  }

  WaitAnswer suspend(Suspension suspension) {
    Lease lease = suspension.lease();
    Wait asked = suspension.asked();
    ModelJob job = queue.heldBy(lease);
    if (job == null) {
      ModelJob other = queue.find(lease.job());
      ModelJob.Ended ended = other == null ? null : other.attempts.get(lease.attempt());
      return ended != null && ended.outcome().equals("SUSPENDED")
          ? WaitAnswer.SUSPENDED
          : WaitAnswer.LEASE_LOST;
    }
    ModelJob.StepRow known = job.steps.get(asked.id());
    if (known != null
        && known.ended() != null
        && known.state().equals("DONE")
        && known.jobAttempt() == job.attempt) {
      return new WaitAnswer.Over(known.ended(), known.checkpoint());
    }
    Over over = there(job, asked);
    if (over != null) {
      return keep(job, suspension.index(), over);
    }
    boolean cancelled = job.cancelRequestedAt != null;
    long now = queue.now();
    job.end(
        cancelled ? JobState.CANCELLED : JobState.WAITING,
        "suspended",
        new ModelJob.Ended("SUSPENDED", null, job.workerName(), now),
        now);
    job.wait =
        cancelled
            ? null
            : new ModelJob.OpenWait(suspension.index(), asked, now, wakeAt(asked, now));
    queue.changed(job);
    return WaitAnswer.SUSPENDED;
  }

  private static @Nullable Long wakeAt(Wait asked, long now) {
    if (asked instanceof Wait.SleepUntil sleep) {
      return ChronoUnit.MICROS.between(Instant.EPOCH, sleep.until());
    }
    Duration within = asked.within();
    return within == null ? null : now + ModelJob.micros(within);
  }

  /** What an attempt need not wait for. */
  private @Nullable Over there(ModelJob job, Wait asked) {
    Over brought =
        switch (asked) {
          case Wait.ForSignal signal -> taken(job, signal);
          case Wait.ForChildren children -> ended(job, children);
          case Wait.Sleep sleep -> null;
          case Wait.SleepUntil sleep -> null;
          case Wait.ForApproval question -> null;
        };
    Long wakeAt = wakeAt(asked, queue.now());
    return brought == null
            && wakeAt != null
            && wakeAt <= queue.now()
            && !(asked instanceof Wait.ForApproval)
        ? new Over(inTime(asked), asked)
        : brought;
  }

  private static Outcome inTime(Wait asked) {
    return switch (asked) {
      case Wait.Sleep sleep -> Outcome.TIME;
      case Wait.SleepUntil sleep -> Outcome.TIME;
      case Wait.ForSignal signal -> Outcome.TIMEOUT;
      case Wait.ForChildren children -> Outcome.TIMEOUT;
      case Wait.ForApproval(String id, Question question) ->
          switch (question.afterwards()) {
            case APPROVE -> Outcome.APPROVED;
            case REJECT -> Outcome.REJECTED;
            case FAIL -> Outcome.TIMEOUT;
          };
    };
  }

  private static @Nullable Over taken(ModelJob job, Wait.ForSignal asked) {
    return job.mailbox.stream()
        .filter(mail -> mail.takenBy == null && mail.signal.name().equals(asked.name()))
        .findFirst()
        .map(mail -> new Over(Outcome.SIGNAL, null, mail, null, asked))
        .orElse(null);
  }

  private List<ModelJob> startedBy(ModelJob parent, Wait.ForChildren asked) {
    return queue.jobs().stream()
        .filter(child -> parent.id.equals(child.parent))
        .filter(child -> child.startedAs != null && asked.started().contains(child.startedAs))
        .toList();
  }

  private @Nullable Over ended(ModelJob parent, Wait.ForChildren asked) {
    List<ModelJob> children = startedBy(parent, asked);
    if (asked.failFast()) {
      for (ModelJob child : children) {
        if (child.state == JobState.FAILED || child.state == JobState.CANCELLED) {
          return new Over(Outcome.FAILED, child.id, null, null, asked);
        }
      }
    }
    if (asked.any()) {
      return children.stream()
          .filter(child -> child.state.isTerminal())
          .min(Comparator.comparing(child -> Objects.requireNonNull(child.finishedAt)))
          .map(child -> new Over(Outcome.ENDED, child.id, null, null, asked))
          .orElse(null);
    }
    return children.stream().allMatch(child -> child.state.isTerminal())
        ? new Over(Outcome.ENDED, asked)
        : null;
  }

  private WaitAnswer keep(ModelJob job, int index, Over over) {
    job.overAt.put(over.asked().id(), queue.now());
    if (over.mail() != null) {
      over.mail().takenBy = over.asked().id();
    }
    job.steps.compute(
        over.asked().id(),
        (id, before) ->
            ModelJob.StepRow.over(before, index, job.attempt, over.payload(), over.end()));
    return new WaitAnswer.Over(over.end(), over.payload());
  }

  // ---- what ends a wait

  SignalToJob.Answer signal(JobId id, SignalToJob signal) {
    ModelJob job = queue.find(id);
    if (job == null) {
      return SignalToJob.Answer.NO_SUCH_JOB;
    }
    if (signal.key() != null
        && job.mailbox.stream().anyMatch(mail -> signal.key().equals(mail.signal.key()))) {
      return SignalToJob.Answer.DUPLICATE;
    }
    if (job.state.isTerminal()) {
      return SignalToJob.Answer.ALREADY_TERMINAL;
    }
    job.event("signal");
    job.mailbox.add(new ModelJob.Mail(job.events.size(), signal));
    ModelJob.OpenWait wait = job.wait;
    if (wait != null && wait.asked() instanceof Wait.ForSignal asked) {
      Over over = taken(job, asked);
      if (over != null) {
        wake(job, wait, over);
      }
    }
    return SignalToJob.Answer.ACCEPTED;
  }

  Decision.Answer decide(Verb.Decide asked) {
    ModelJob job = queue.find(asked.job());
    if (job == null) {
      return Decision.Answer.NO_SUCH_JOB;
    }
    ModelJob.OpenWait wait = job.wait;
    if (wait == null
        || !(wait.asked() instanceof Wait.ForApproval(String id, Question question))
        || !id.equals(asked.waitId())) {
      return Decision.Answer.NOT_ASKED;
    }
    if (asked.role().compareTo(Role.valueOf(question.role().name())) < 0) {
      return Decision.Answer.NOT_ALLOWED;
    }
    Outcome outcome = asked.decision().approved() ? Outcome.APPROVED : Outcome.REJECTED;
    wake(job, wait, new Over(outcome, null, null, asked.decision(), wait.asked()));
    return Decision.Answer.ACCEPTED;
  }

  private void wake(ModelJob job, ModelJob.OpenWait wait, Over over) {
    WaitAnswer unused = keep(job, wait.index(), over);
    job.state = JobState.PENDING;
    job.wait = null;
    if (over.outcome() == Outcome.TIME && wait.wakeAt() != null) {
      job.runAt = wait.wakeAt();
    }
    job.event("resumed");
    queue.changed(job);
  }

  /** Waits whose time is over. */
  boolean wakeDue(@Nullable String name) {
    boolean any = false;
    for (ModelJob job : queue.jobs()) {
      ModelJob.OpenWait wait = job.wait;
      if (wait != null
          && wait.wakeAt() != null
          && wait.wakeAt() <= queue.now()
          && (name == null || job.queue.equals(name))) {
        wake(job, wait, new Over(inTime(wait.asked()), wait.asked()));
        any = true;
      }
    }
    return any;
  }

  /** Waits for jobs that have ended; what is no longer waited for is cancelled. */
  boolean wakeParents(@Nullable String name) {
    List<ModelJob> found =
        queue.jobs().stream()
            .filter(job -> name == null || job.queue.equals(name))
            .filter(job -> over(job) != null)
            .toList();
    for (ModelJob parent : found) {
      Over over = over(parent);
      if (over != null
          && over.outcome() == Outcome.FAILED
          && over.asked() instanceof Wait.ForChildren asked) {
        startedBy(parent, asked).stream()
            .filter(child -> !child.state.isTerminal())
            .forEach(this::cancelAll);
      }
    }
    boolean any = false;
    for (ModelJob parent : found) {
      Over over = over(parent);
      ModelJob.OpenWait wait = parent.wait;
      if (over != null && wait != null) {
        wake(parent, wait, over);
        any = true;
      }
    }
    return any;
  }

  private @Nullable Over over(ModelJob job) {
    ModelJob.OpenWait wait = job.wait;
    return wait != null && wait.asked() instanceof Wait.ForChildren asked
        ? ended(job, asked)
        : null;
  }

  /** What was started under these ids is no longer waited for, and cancelled. */
  void abandon(ModelJob parent, Set<String> ids) {
    List<ModelJob> abandoned =
        queue.jobs().stream()
            .filter(child -> parent.id.equals(child.parent))
            .filter(child -> child.startedAs != null && ids.contains(child.startedAs))
            .toList();
    abandoned.forEach(child -> child.startedAs = null);
    abandoned.forEach(this::cancelAll);
  }

  private void cancelAll(ModelJob job) {
    Object unused = queue.cancel(job.id, "in vain");
    queue.jobs().stream()
        .filter(child -> job.id.equals(child.parent))
        .toList()
        .forEach(this::cancelAll);
  }

  // ---- jobs that others start

  Ack start(Verb.Start asked) {
    ModelJob parent = queue.heldBy(asked.lease());
    if (parent == null) {
      return Ack.LEASE_LOST;
    }
    ModelJob.StepRow known = parent.steps.get(asked.id());
    if (known != null && known.state().equals("DONE")) {
      return Ack.ACCEPTED;
    }
    for (Verb.Child child : asked.children()) {
      if (queue.find(child.id()) == null) {
        Job job = child.job().queue(parent.queue).priority(parent.job.priority());
        queue.addChild(job, parent, asked.id());
      }
    }
    int count = asked.children().size();
    if (count > 0) {
      parent.event("children:started");
      WaitEnd started =
          new WaitEnd(WaitSort.CHILDREN, Outcome.STARTED, null, null, null, null, count);
      parent.steps.compute(
          asked.id(),
          (id, before) ->
              ModelJob.StepRow.over(before, asked.index(), parent.attempt, null, started));
    }
    return Ack.ACCEPTED;
  }

  List<ChildEnd> ends(Lease lease, List<JobId> children) {
    return children.stream()
        .map(queue::find)
        .filter(child -> child != null && lease.job().equals(child.parent))
        .map(child -> new ChildEnd(child.id, child.state, child.result, null))
        .toList();
  }
}
