package dev.holdfast.worker.handler;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.worker.steps.Budgets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** What a handler knows about its attempt, and how it talks back. Safe to use from any thread. */
public interface JobContext {
  LeasedJob job();

  default JobId id() {
    return job().id();
  }

  default Lease lease() {
    return job().lease();
  }

  /** True once the handler should stop, for whatever reason; its thread is interrupted as well. */
  boolean isCancelled();

  /** A good line at every natural break of long work: leaves the handler when it should stop. */
  void checkCancelled();

  /** Runs once when the handler should stop; at once when that has already been said. */
  void onCancel(Runnable action);

  /** Cheap to call often: what is written is throttled. */
  void progress(int percent, String message);

  default void progress(int percent) {
    progress(percent, "");
  }

  /**
   * Adds an entry to the timeline, and returns once it is durable. The data is anything the codec
   * can turn into JSON. Throws {@link LeaseLostException} when the attempt no longer holds the job.
   * A handler that holds a connection meanwhile needs a pool with more of them than there are
   * handlers: writing the entry takes one.
   */
  void event(String type, Object data);

  /**
   * This attempt's own folder, made when first asked for. It is gone when the job has succeeded,
   * and kept for inspection when the attempt has failed.
   */
  Path scratch();

  /**
   * Publishes files under these names at {@code results/{jobId}/{name}}: all of them or none, whole
   * at every moment, and only while this attempt holds the job. Best done last: a retry of a kind
   * that {@linkplain Kind#producing names} its artifacts takes the job for done when it finds them,
   * with {@code result} as the job's result.
   *
   * <p>Throws {@link LeaseLostException} when the attempt no longer holds the job.
   */
  List<Artifact> publish(Map<String, Path> files, @Nullable Object result);

  default Artifact publish(String name, Path file) {
    return publish(Map.of(name, file), null).getFirst();
  }

  /**
   * Adds a line to the log of the job, which operators can follow while it runs. Cheap: lines are
   * written about once a second, and of too many the oldest are dropped. Secrets are redacted in
   * each line by itself; one that goes over several lines is for the caller to redact.
   */
  void log(String line);

  /**
   * Attaches something that must end with this attempt. When the handler should stop, it is {@link
   * Attachment#terminate terminated}; when the lease is lost or the {@link #grace} period is over,
   * it is {@link Attachment#kill killed}, both on a thread of their own. If the handler should have
   * stopped already, it is killed before this returns.
   *
   * <p>The module {@code holdfast-programs} runs programs this way.
   *
   * @return closed by the handler once it has ended
   */
  Attached attach(Attachment external);

  /** Attached until it is closed. */
  interface Attached extends AutoCloseable {
    @Override
    void close();
  }

  /** How long a handler may take to stop before its attempt is settled without it. */
  Duration grace();

  /**
   * Runs a step of the job, and once it is done never again: a later attempt, on whatever worker,
   * gets its result from the checkpoint. The result is anything the codec can turn into JSON and
   * back.
   *
   * <p>The body runs on a thread of its own. One that fails is tried again within the budgets; so
   * is one that hangs, which is to say takes too long or gives no sign of life, by {@link #alive},
   * {@link #progress} or {@link #event}. When the budgets are spent the job fails, and is retried
   * by its queue if another attempt can help. A hard reset calls the handler again, so what it does
   * outside of steps should bear to be done twice.
   *
   * @param id of this step in this job
   */
  default <T extends @Nullable Object> T step(String id, Class<T> result, Callable<T> body) {
    return step(id, result, null, body);
  }

  /** For results whose type has parameters: {@code new PayloadType<List<Mail>>() {}}. */
  default <T extends @Nullable Object> T step(String id, PayloadType<T> result, Callable<T> body) {
    return step(id, result, null, body);
  }

  /**
   * A step with budgets of its own.
   *
   * @param budgets null for those of the worker
   */
  default <T extends @Nullable Object> T step(
      String id, Class<T> result, @Nullable Budgets budgets, Callable<T> body) {
    return step(id, PayloadType.of(result), budgets, body);
  }

  /** With budgets of its own, for results whose type has parameters. */
  <T extends @Nullable Object> T step(
      String id, PayloadType<T> result, @Nullable Budgets budgets, Callable<T> body);

  /** A step without a result. */
  default void step(String id, Work body) {
    Object unused =
        step(
            id,
            Object.class,
            null,
            () -> {
              body.run();
              return null;
            });
  }

  /** What a step without a result does. */
  @FunctionalInterface
  interface Work {
    void run() throws Exception;
  }

  /** A sign of life of the running step: cheap, and good to give wherever it makes headway. */
  void alive();

  /** For handlers with steps of their own making. */
  JobSteps steps();

  /** {@code throw context.snooze(…)}: run again later, without using budget. */
  default SnoozeException snooze(Duration delay) {
    return new SnoozeException(delay);
  }

  /**
   * Called before this attempt is settled inside the handler's own transaction: the worker then
   * asks the database how it went instead of settling again. From then on the transaction may hold
   * the job's row locked, so progress is passed over and events are refused.
   */
  void settlingInTransaction();
}
