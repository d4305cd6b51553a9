package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.process.LineListener;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.steps.Budgets;
import dev.holdfast.steps.Interventions;
import dev.holdfast.worker.config.Healing;
import dev.holdfast.worker.handler.CancelledException;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.LeaseLostException;
import dev.holdfast.worker.source.Metrics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The context of one attempt. */
public final class AttemptContext implements JobContext {
  private static final Logger log = LoggerFactory.getLogger(AttemptContext.class);
  private static final Duration LAST_PROGRESS = Duration.ofSeconds(1);

  private final LeasedJob job;
  private final Codec codec;
  private final Outbox outbox;
  private final AttemptResources workplace;
  private final Runnable lost;
  private final Healer healer;
  private final CodeSteps steps;
  private final Budgets budgets;
  private final Interventions interventions = new Interventions();
  private final ProgressThrottle throttle;
  private @Nullable JobLog output;
  private final List<Runnable> callbacks = new ArrayList<>();
  private final Object reporting = new Object();
  private CompletableFuture<Ack> written = CompletableFuture.completedFuture(Ack.ACCEPTED);
  private Report.@Nullable Progress pending;
  private volatile @Nullable StopReason stop;
  private volatile boolean settling;
  private volatile boolean ended;

  /**
   * @param lost called when an answer says that the lease is lost
   */
  AttemptContext(
      LeasedJob job,
      Codec codec,
      Outbox outbox,
      AttemptResources workplace,
      LongSupplier nanos,
      Runnable lost,
      Healer healer) {
    this.job = job;
    this.codec = codec;
    this.outbox = outbox;
    this.workplace = workplace;
    this.lost = lost;
    this.throttle = new ProgressThrottle(nanos);
    this.healer = healer;
    this.budgets = healer.healing().budgets();
    this.steps =
        new CodeSteps(
            job,
            codec,
            () -> healer.steps(interventions),
            new StepJournal(job.lease(), codec, healer.metrics(), this::tell),
            interventions,
            scrubber()::scrub,
            healer.grace());
  }

  /** What steps need of the worker. */
  public interface Healer {
    Healing healing();

    /** For a step that was told to stop. */
    Duration grace();

    Metrics metrics();

    /** What a step before this attempt has changed in its workspace. */
    Optional<Patch> patch(String step);

    /** What attempts before this one have done; tells what operators ask on the way. */
    public List<StepStatus> steps(Interventions interventions);
  }

  @Override
  public LeasedJob job() {
    return job;
  }

  // ---- being told to stop

  @Override
  public boolean isCancelled() {
    return stop != null;
  }

  @Override
  public void checkCancelled() {
    StopReason reason = stop;
    if (reason != null) {
      throw new CancelledException(reason.text());
    }
  }

  @Override
  public void onCancel(Runnable action) {
    synchronized (callbacks) {
      if (stop == null) {
        callbacks.add(action);
        return;
      }
    }
    run(action);
  }

  /**
   * Tells the handler, on a thread of the callbacks' own, for a callback may block. Not a virtual
   * one: handlers that compute on every core would keep it from ever running, and may be just what
   * it is to stop.
   */
  void stop(StopReason reason) {
    List<Runnable> actions;
    synchronized (callbacks) {
      stop = reason;
      actions = List.copyOf(callbacks);
      callbacks.clear();
    }
    if (!actions.isEmpty()) {
      start(() -> actions.forEach(this::run));
    }
    if (workplace.isRunning()) {
      // Another attempt may be at work already when the lease is gone: that is no time for manners.
      start(reason.isLossOfLease() ? workplace::kill : workplace::terminate);
    }
  }

  /** Ends by force what the handler has started, then goes on. */
  void abandon(Runnable next) {
    if (workplace.isRunning()) {
      start(
          () -> {
            workplace.kill();
            next.run();
          });
    } else {
      next.run();
    }
  }

  private void start(Runnable callback) {
    String name = "cancel-" + job.lease();
    try {
      Thread.ofPlatform().daemon().name(name).start(callback);
    } catch (OutOfMemoryError noThreadLeft) {
      Thread.ofVirtual().name(name).start(callback);
    }
  }

  private void run(Runnable action) {
    try {
      action.run();
    } catch (Throwable thrown) {
      log.warn("{}: a cancel callback failed", job.lease(), thrown);
    }
  }

  // ---- reporting

  @Override
  public void progress(int percent, String message) {
    Report.Progress report =
        new Report.Progress(job.lease(), percent, message.isEmpty() ? null : message);
    steps.alive();
    synchronized (reporting) {
      if (stop == null && !settling && !ended && throttle.lets(percent)) {
        // One unanswered report at a time; the latest of those that came meanwhile is the next.
        pending = report;
        if (written.isDone()) {
          sendPending();
        }
      }
    }
  }

  /** The caller holds {@link #reporting}. */
  private void sendPending() {
    Report.Progress report = pending;
    if (report != null) {
      pending = null;
      written = outbox.report(report);
      CompletableFuture<?> unused = written.whenComplete((ack, trouble) -> answered(ack));
    }
  }

  private void answered(@Nullable Ack ack) {
    if (ack == Ack.LEASE_LOST) {
      lost.run();
    }
    synchronized (reporting) {
      if (written.isDone()) {
        sendPending();
      }
    }
  }

  public Scrubber scrubber() {
    return healer.healing().scrubber();
  }

  /** A line that a program of this attempt printed; cheap, and written now and then. */
  public void log(String line) {
    JobLog told;
    synchronized (reporting) {
      if (ended) {
        return;
      }
      if (output == null) {
        // Most jobs run no program, and need no room for what one would say.
        output = new JobLog(job.lease(), scrubber(), outbox::report, lost);
      }
      told = output;
    }
    told.line(line);
  }

  @Override
  public void event(String type, Object data) {
    steps.alive();
    tell(
        new Report.Event(
            job.lease(), EventType.ofHandler(type), Limits.eventData(codec.encode(data))));
  }

  /** Returns once it is durable. */
  private void tell(Report report) {
    CompletableFuture<Ack> answer;
    synchronized (reporting) {
      checkHolds("events");
      sendPending();
      answer = outbox.report(report);
    }
    if (answerTo(answer) == Ack.LEASE_LOST) {
      lost.run();
      throw new LeaseLostException(job.lease());
    }
  }

  private static Ack answerTo(CompletableFuture<Ack> written) {
    try {
      return written.get();
    } catch (InterruptedException interrupted) {
      // The event may still be written; the handler was told to stop and should.
      Thread.currentThread().interrupt();
      throw new CancelledException("interrupted while an event was being written");
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof RefusedException refused) {
        throw new RefusedException(Refusal.EVENT_NOT_JSON, String.valueOf(refused.getMessage()));
      }
      throw new CompletionException(failed.getCause());
    }
  }

  // ---- steps

  @Override
  public <T extends @Nullable Object> T step(
      String id, Class<T> result, @Nullable Budgets own, Callable<T> body) {
    checkCancelled();
    try {
      return steps.run(id, result, own == null ? budgets : own, body);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      StopReason reason = stop;
      throw new CancelledException(reason == null ? "interrupted in a step" : reason.text());
    }
  }

  @Override
  public void alive() {
    steps.alive();
  }

  public CodeSteps steps() {
    return steps;
  }

  public Interventions interventions() {
    return interventions;
  }

  public Healer healer() {
    return healer;
  }

  /** Whether the handler, which has just left, is to begin anew. */
  boolean beginsAgain() {
    return stop == null && steps.beginsAgain();
  }

  /** Whether an operator wants a step done again, so that what it once led to does not count. */
  boolean isSentBack() {
    if (job.lease().attempt() > 1) {
      CodeSteps.Opened unused = steps.open();
    }
    return interventions.pending().isPresent();
  }

  void heard(PendingCommand control) {
    interventions.heard(control);
  }

  // ---- files and programs

  @Override
  public Path scratch() {
    return workplace.scratch();
  }

  @Override
  public int run(List<String> command, Consumer<String> out, Consumer<String> err) {
    return run(command, Map.of(), (line, cut) -> out.accept(line), (line, cut) -> err.accept(line));
  }

  public int run(
      List<String> command, Map<String, String> environment, LineListener out, LineListener err) {
    checkCancelled();
    return workplace.run(command, environment, out, err, this);
  }

  @Override
  public List<Artifact> publish(Map<String, Path> files, @Nullable Object result) {
    Json json = result == null ? null : Limits.result(codec.encode(result));
    checkHolds("artifacts");
    try {
      return workplace.publish(files, json, this::awaitReports);
    } catch (LeaseLostException tooLate) {
      lost.run();
      throw tooLate;
    }
  }

  /** So that the timeline tells of progress before it tells what came of it. */
  private void awaitReports() {
    CompletableFuture<Ack> last;
    synchronized (reporting) {
      sendPending();
      last = written;
    }
    if (answerTo(last) == Ack.LEASE_LOST) {
      throw new LeaseLostException(job.lease());
    }
  }

  private void checkHolds(String what) {
    if (ended || stop instanceof StopReason.LeaseLost) {
      throw new LeaseLostException(job.lease());
    }
    if (settling) {
      // It would wait for the row that this attempt's own transaction holds locked.
      throw new IllegalStateException(
          job.lease() + " is settled in its transaction: " + what + " come before that");
    }
  }

  // ---- the end

  @Override
  public void settlingInTransaction() {
    CompletableFuture<Ack> last;
    synchronized (reporting) {
      settling = true;
      sendPending();
      last = written;
    }
    try {
      // Sent after the transaction has locked the row, it would hold up everyone's reports.
      last.get(LAST_PROGRESS.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException tooLong) {
      last.cancel(false);
    } catch (ExecutionException notWritten) {
      log.debug("{}: the last progress was not written", job.lease(), notWritten);
    } catch (InterruptedException interrupted) {
      last.cancel(false);
      Thread.currentThread().interrupt();
    }
  }

  boolean isSettling() {
    return settling;
  }

  /** Nothing is reported any more, and what was is written before the attempt is settled. */
  void end() {
    JobLog told;
    synchronized (reporting) {
      if (!settling) {
        sendPending();
      }
      ended = true;
      told = output;
    }
    if (told != null) {
      told.end(!settling);
    }
  }
}
