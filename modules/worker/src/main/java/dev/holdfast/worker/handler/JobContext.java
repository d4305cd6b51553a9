package dev.holdfast.worker.handler;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.JobId;
import dev.holdfast.steps.Budgets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
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
   * Runs a program in the scratch folder and returns its exit code. When the handler should stop,
   * the program is asked to end with all it has started, and killed after the grace period; then,
   * and whenever it ends, nothing it started is left behind. It sees of the worker's environment
   * only what is harmless, such as PATH and LANG.
   */
  int run(List<String> command, Consumer<String> out, Consumer<String> err);

  /**
   * Runs a step of the job, and once it is done never again: a later attempt, on whatever worker,
   * gets its result from the checkpoint. The result is anything the codec can turn into JSON and
   * back.
   *
   * <p>The body runs on a thread of its own. One that fails is tried again within the budgets; so
   * is one that hangs, which is to say takes too long or gives no sign of life, by {@link #alive},
   * {@link #progress} or {@link #event}. When the budgets are spent the job fails, and is retried
   * by its queue if another attempt can help. A hard reset begins the handler anew, so what it does
   * outside of steps should bear to be done twice.
   *
   * @param id of this step in this job
   */
  default <T extends @Nullable Object> T step(String id, Class<T> result, Callable<T> body) {
    return step(id, result, null, body);
  }

  /**
   * The same with budgets of its own.
   *
   * @param budgets null for those of the worker
   */
  <T extends @Nullable Object> T step(
      String id, Class<T> result, @Nullable Budgets budgets, Callable<T> body);

  /** The same for a step without a result. */
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

  /** A sign of life of the step under way: cheap, and good to give wherever it makes headway. */
  void alive();

  /** {@code throw context.snooze(…)}: come back later, without using budget. */
  default SnoozeException snooze(Duration delay) {
    return new SnoozeException(delay);
  }

  /**
   * Told by whoever settles this attempt inside the handler's own transaction, before it does: the
   * worker then asks the database how it went instead of settling again. From then on the
   * transaction may hold the job's row locked, so progress is passed over and events are refused.
   */
  void settlingInTransaction();
}
