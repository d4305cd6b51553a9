package dev.holdfast.worker.handler;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.wait.Question;
import dev.holdfast.worker.steps.Budgets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
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
            Void.class,
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

  /**
   * Waits for a time, by the database's clock. The job holds nothing meanwhile: no slot, no lease,
   * no thread. When the time is over a worker calls the handler again, from its first line; what it
   * has done in steps is not done again, and this returns. So what a handler does outside of steps
   * should bear to be done again after each wait.
   *
   * <p>It does so by an error that ends the handler: one that catches all that is thrown does not
   * stop it. Waits are for the handler itself, and neither for steps nor for threads of its own.
   *
   * @param id of this wait in this job, one of the ids of its steps
   */
  void sleep(String id, Duration time);

  /** The same until a moment; one that has passed is no wait. */
  void sleepUntil(String id, Instant until);

  /**
   * Waits for a signal of this name, without a bound in time, and returns what was sent with it.
   * The signal may have come before. Of several the first one that no wait has taken is taken.
   */
  default <T> T await(String name, Class<T> type) {
    return await(name, name, PayloadType.of(type), null).orElseThrow();
  }

  /** The same for so long; empty when none came in time. */
  default <T> Optional<T> await(String name, Class<T> type, Duration within) {
    return await(name, name, PayloadType.of(type), within);
  }

  /**
   * The same under an id of its own, for handlers that wait for several signals of one name.
   *
   * @param signal its name
   * @param within null without a bound in time
   */
  <T> Optional<T> await(String id, String signal, PayloadType<T> type, @Nullable Duration within);

  /**
   * Asks a person, and waits for the decision. Fails the job if the question says so and nobody has
   * decided in time.
   */
  Approval approve(String id, Question question);

  /**
   * Ends this job well, and starts another one in its place, with this payload and the same kind:
   * in one transaction, and once, whatever crashes. For loops without end, whose steps and waits
   * would be too many for one job. The new job has the unique key, the run, the parent and the
   * place in the queue of this one, its deadline, and the signals that no wait has taken; its
   * steps, its budgets and its timeline are its own. This one has no result. What waits for this
   * job sees its end, so one that was started by another is refused.
   *
   * <p>It leaves the handler by an error, as waits do, and does not return. Nothing follows a job
   * that was cancelled meanwhile.
   */
  Object continueAs(Object payload);

  /**
   * Starts a job, once, however often the handler is called. It belongs to the tenant, the
   * workspace and the run of this one, and has its queue and its priority if it has none of its
   * own; cancelling this one cancels it too.
   *
   * @param id under which it is started, one of the ids of the steps
   */
  default Child spawn(String id, Job job) {
    return spawn(id, List.of(job)).getFirst();
  }

  /** The same for many. What is started under an id must follow from the payload and from steps. */
  List<Child> spawn(String id, List<Job> jobs);

  /**
   * Waits until all of these have ended, and returns how, in their order. Throws {@link
   * ChildFailedException} as soon as one has not succeeded; the others are cancelled.
   */
  default List<ChildEnd> join(String id, Collection<Child> children) {
    return join(id, children, Join.FAIL_FAST);
  }

  /** The same, and what becomes of it when one does not succeed. */
  List<ChildEnd> join(String id, Collection<Child> children, Join how);

  /** What a wait for several jobs makes of one that does not succeed. */
  enum Join {
    /** Cancels the others, and throws. */
    FAIL_FAST,
    /** Waits for the others as well. */
    COLLECT
  }

  /** Waits until one of these has ended, and returns the one that did so first. */
  ChildEnd any(String id, Collection<Child> children);

  /**
   * Starts a job for each item, waits until all have succeeded, and returns their results in the
   * order of the items. Fails as soon as one has not succeeded; the others are cancelled.
   */
  default <I, R> List<R> map(
      String id, Collection<I> items, Function<I, Job> job, Class<R> result) {
    return map(id, items, job, PayloadType.of(result));
  }

  /** The same for results whose type has parameters. */
  <I, R> List<R> map(String id, Collection<I> items, Function<I, Job> job, PayloadType<R> result);

  /** A sign of life of the running step: cheap, and good to give wherever it makes headway. */
  void alive();

  /** For handlers with steps of their own making. */
  JobSteps steps();

  /** For handlers that run what asks for waits. */
  JobWaits waits();

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
