package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.worker.handler.Attachment;
import dev.holdfast.worker.handler.CancelledException;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.LeaseLostException;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.worker.steps.Journal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The context of one attempt: each concern is a class, and this passes the handler's calls on. */
final class AttemptContext implements JobContext {
  private final LeasedJob job;
  private final Codec codec;
  private final Duration grace;
  private final StopSignal stop;
  private final AttemptReports reports;
  private final AttemptFiles files;
  private final AttemptSteps steps;
  private final CodeSteps codeSteps;
  private final Runnable lost;

  /**
   * @param lost called when an answer says that the lease is lost
   */
  AttemptContext(
      LeasedJob job, AttemptServices services, StopSignal stop, LongSupplier nanos, Runnable lost) {
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
            job.lease(),
            services,
            new Journal(job.lease(), codec, reports::write, services.metrics()));
    this.codeSteps = new CodeSteps(codec, steps);
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
    steps.alive();
    reports.progress(percent, message);
  }

  @Override
  public void event(String type, Object data) {
    steps.alive();
    reports.write(
        new Report.Event(
            job.lease(), EventType.ofHandler(type), Limits.eventData(codec.encode(data))));
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

  /** Whether the handler, which has just ended, is to be called again. */
  boolean beginsAgain() {
    return codeSteps.beginsAgain() && !stop.isSet();
  }
}
