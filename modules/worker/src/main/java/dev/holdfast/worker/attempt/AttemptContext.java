package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.worker.handler.Approval;
import dev.holdfast.worker.handler.Attachment;
import dev.holdfast.worker.handler.CancelledException;
import dev.holdfast.worker.handler.Child;
import dev.holdfast.worker.handler.ChildFailedException;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.JobWaits;
import dev.holdfast.worker.handler.LeaseLostException;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.worker.steps.Journal;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The context of one attempt: each concern is a class, and this passes the handler's calls on. */
final class AttemptContext implements JobContext {
  /** So many steps are named in one event. */
  private static final int MOST_NAMED = 20;

  private final LeasedJob job;
  private final Codec codec;
  private final Duration grace;
  private final StopSignal stop;
  private final AttemptReports reports;
  private final AttemptFiles files;
  private final AttemptSteps steps;
  private final CodeSteps codeSteps;
  private final AttemptWaits waits;
  private final Runnable lost;

  /**
   * @param version of the handler; 0 if it has none
   * @param lost called when an answer says that the lease is lost
   */
  AttemptContext(
      LeasedJob job,
      int version,
      AttemptServices services,
      StopSignal stop,
      HandlerThread thread,
      LongSupplier nanos,
      Runnable lost) {
    this.job = job;
    this.codec = services.codec();
    this.grace = services.options().timings().cancelGrace();
    this.stop = stop;
    this.lost = lost;
    this.reports =
        new AttemptReports(
            job.lease(),
            services.outbox(),
            services.options().healing().redact(),
            stop,
            nanos,
            lost);
    this.files = new AttemptFiles(job.lease(), services.options().scratch(), services.publisher());
    this.steps =
        new AttemptSteps(
            job,
            version,
            services,
            new Journal(job.lease(), codec, reports::write, reports::announce, services.metrics()));
    this.codeSteps = new CodeSteps(codec, steps);
    this.waits =
        new AttemptWaits(job, codec, services.source(), steps, reports, stop, thread, lost);
  }

  AttemptReports reports() {
    return reports;
  }

  AttemptFiles files() {
    return files;
  }

  @Override
  public LeasedJob job() {
    return job;
  }

  // ---- stop

  @Override
  public boolean isCancelled() {
    return stop.isSet();
  }

  @Override
  public void checkCancelled() {
    stop.check();
  }

  @Override
  public void onCancel(Runnable action) {
    stop.onCancel(action);
  }

  @Override
  public Attached attach(Attachment external) {
    return stop.attach(external);
  }

  @Override
  public Duration grace() {
    return grace;
  }

  // ---- report

  @Override
  public void progress(int percent, String message) {
    steps.report();
    reports.progress(percent, message);
  }

  @Override
  public void event(String type, Object data) {
    waits.checkNotSuspended();
    steps.report();
    write(EventType.ofHandler(type), data);
  }

  private void write(String type, Object data) {
    reports.write(new Report.Event(job.lease(), type, Limits.eventData(codec.encode(data))));
  }

  @Override
  public void log(String line) {
    reports.log(line);
  }

  @Override
  public void settlingInTransaction() {
    reports.settlingInTransaction();
  }

  // ---- files

  @Override
  public Path scratch() {
    return files.scratch();
  }

  @Override
  public List<Artifact> publish(Map<String, Path> named, @Nullable Object result) {
    Json json = result == null ? null : Limits.result(codec.encode(result));
    reports.checkHolds("artifacts");
    try {
      return files.publish(named, json, reports::awaitWritten);
    } catch (LeaseLostException tooLate) {
      lost.run();
      throw tooLate;
    }
  }

  // ---- steps

  @Override
  public <T extends @Nullable Object> T step(
      String id, PayloadType<T> result, @Nullable Budgets own, Callable<T> body) {
    waits.checkNotSuspended();
    checkCancelled();
    try {
      return codeSteps.run(id, result, own == null ? steps.budgets() : own, body);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      checkCancelled();
      throw new CancelledException("interrupted in a step");
    }
  }

  @Override
  public void alive() {
    steps.alive();
  }

  @Override
  public AttemptSteps steps() {
    return steps;
  }

  // ---- waits

  @Override
  public void sleep(String id, Duration time) {
    waits.await(new Wait.Sleep(id, time));
  }

  @Override
  public void sleepUntil(String id, Instant until) {
    waits.await(new Wait.SleepUntil(id, until));
  }

  @Override
  public <T> Optional<T> await(
      String id, String signal, PayloadType<T> type, @Nullable Duration within) {
    JobWaits.Over over = waits.await(new Wait.ForSignal(id, signal, within));
    Json payload = over.payload();
    return over.end().outcome() == WaitEnd.Outcome.TIMEOUT || payload == null
        ? Optional.empty()
        : Optional.of(
            Kept.as(
                type,
                payload,
                codec,
                "what wait '%s' has got by the signal '%s'".formatted(id, signal)));
  }

  @Override
  public Approval approve(String id, Question question) {
    WaitEnd end = waits.await(new Wait.ForApproval(id, question)).end();
    if (end.outcome() == WaitEnd.Outcome.TIMEOUT) {
      throw FailedException.of(
          FailureCategory.TIMEOUT,
          Failure.NOT_DECIDED,
          "nobody has decided '%s' in time: %s".formatted(id, question.text()));
    }
    return new Approval(
        end.outcome() == WaitEnd.Outcome.APPROVED,
        end.by(),
        Objects.requireNonNull(end.at()),
        end.comment() == null ? "" : end.comment());
  }

  @Override
  public List<Child> spawn(String id, List<Job> jobs) {
    return waits.start(id, jobs);
  }

  @Override
  public Object continueAs(Object payload) {
    throw waits.continueAs(Limits.payload(codec.encode(payload)));
  }

  @Override
  public List<ChildEnd> join(String id, Collection<Child> children, Join how) {
    List<Child> all = List.copyOf(children);
    waits.checkStarted(all);
    List<Child> awaited = waits.own(all);
    if (!awaited.isEmpty()) {
      waits.await(new Wait.ForChildren(id, startedAs(awaited), false, how == Join.FAIL_FAST, null));
    } else if (!all.isEmpty()) {
      WaitEnd unused = waits.passed(id);
    }
    List<ChildEnd> ends = waits.ends(all);
    if (how == Join.FAIL_FAST) {
      ends.stream()
          .filter(each -> each.state() != JobState.SUCCEEDED)
          .min(Comparator.comparingInt(each -> each.state() == JobState.FAILED ? 0 : 1))
          .ifPresent(
              failed -> {
                throw new ChildFailedException(failed);
              });
    }
    return ends;
  }

  @Override
  public ChildEnd any(String id, Collection<Child> children) {
    List<Child> all = List.copyOf(children);
    waits.checkStarted(all);
    JobId first = first(id, all);
    return waits.ends(all.stream().filter(each -> each.id().equals(first)).toList()).getFirst();
  }

  private @Nullable JobId first(String id, List<Child> all) {
    List<Child> awaited = waits.own(all);
    if (awaited.size() == all.size()) {
      return waits.await(new Wait.ForChildren(id, startedAs(all), true, false, null)).end().job();
    }
    WaitEnd before = waits.passed(id);
    return before != null && before.job() != null
        ? before.job()
        : all.stream().filter(each -> !awaited.contains(each)).findFirst().orElseThrow().id();
  }

  @Override
  public <I, R> List<R> map(
      String id, Collection<I> items, Function<I, Job> job, PayloadType<R> type) {
    List<Child> children = spawn(id, items.stream().map(job).toList());
    return join(id + ":join", children, Join.FAIL_FAST).stream()
        .map(each -> result(each, id, type))
        .toList();
  }

  private <R> R result(ChildEnd child, String id, PayloadType<R> type) {
    String what = "the result of job %s, started by '%s',".formatted(child.job(), id);
    if (child.result() == null) {
      throw Kept.doesNotFit(
          what, "there is none; spawn and join are for jobs whose results do not matter");
    }
    return Kept.as(type, child.result(), codec, what);
  }

  private static List<String> startedAs(List<Child> children) {
    return children.stream().map(Child::startedAs).distinct().toList();
  }

  @Override
  public AttemptWaits waits() {
    return waits;
  }

  /**
   * The handler has returned. Tells the timeline which steps, waits and starts of jobs are known
   * from attempts before and were not asked for by this one: its code has changed, or it has taken
   * another branch.
   */
  void tellUnused() {
    List<String> unused = waits.isLeft() || reports.isSettling() ? List.of() : steps.unused();
    if (!unused.isEmpty()) {
      write(
          EventType.STEPS_UNUSED,
          Map.of(
              "message",
              "done by an attempt before, and not asked for by the one that has returned",
              "count",
              unused.size(),
              "steps",
              unused.stream().limit(MOST_NAMED).toList()));
    }
  }

  /** Whether the handler, which has just ended, is to be called again. */
  boolean takeCallAgain() {
    boolean again = codeSteps.takeCallAgain() && !stop.isSet();
    if (again) {
      steps.forgetAsked();
    }
    return again;
  }
}
