package dev.holdfast.test;

import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.test.CrashingSource.Boundary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Jobs that a worker runs, and what becomes of them when it is killed. */
public final class WorkerAssert {
  private final Holdfast holdfast;
  private final WorkerBuilder worker;
  private final Map<String, LongSupplier> effects;
  private final BiConsumer<JobId, String> answers;

  private WorkerAssert(
      Holdfast holdfast,
      WorkerBuilder worker,
      Map<String, LongSupplier> effects,
      BiConsumer<JobId, String> answers) {
    this.holdfast = holdfast;
    this.worker = worker;
    this.effects = effects;
    this.answers = answers;
  }

  static WorkerAssert of(Holdfast holdfast, WorkerBuilder worker) {
    return new WorkerAssert(holdfast, worker, Map.of(), (job, wait) -> {});
  }

  /**
   * Also counts something that the handler does, such as mails that were sent: only a death before
   * a step is written may repeat it.
   *
   * @param count how often it was done so far
   */
  public WorkerAssert counting(String effect, LongSupplier count) {
    Map<String, LongSupplier> more = new LinkedHashMap<>(effects);
    more.put(effect, count);
    return new WorkerAssert(holdfast, worker, more, answers);
  }

  /**
   * What sends the signals and makes the decisions that a job waits for. Without it, or if it does
   * nothing, the time of the wait passes.
   *
   * @param who called with the job and the id of its wait, once for each
   */
  public WorkerAssert answering(BiConsumer<JobId, String> who) {
    return new WorkerAssert(holdfast, worker, effects, who);
  }

  /**
   * Runs the job without a crash, and then again and again, each time with a worker that dies at
   * another moment: before and after each step, wait and start of jobs is written, and before and
   * after the job is settled. Nothing of a dead worker reaches the database any more; its leases
   * are taken back, and another worker goes on. Time passes at once, as with {@link TestTime}.
   *
   * <p>Each of these runs must come to the same: state, result, checkpoints, ends of waits, numbers
   * of jobs by kind, and what is {@linkplain #counting counted}. Values that differ between two
   * runs without any crash, such as random numbers, are only compared within a run. What a step
   * does is done twice if the worker dies before the step is written, so nothing is counted then.
   *
   * <p>For a database without other workers and other jobs. The worker needs a handler for every
   * kind that the job starts.
   *
   * @return the moments at which a worker has died
   */
  public List<String> survivesACrashAfterEveryStep(Job job) {
    CrashRun undisturbed = run(job, null);
    Set<String> varying = varying(job, undisturbed, run(job, null));
    List<String> moments = new ArrayList<>();
    for (Boundary boundary : undisturbed.reached()) {
      CrashRun crashed = run(job, boundary);
      List<String> wrong = crashed.differences(undisturbed, varying);
      if (!wrong.isEmpty()) {
        throw new AssertionError(
            "'%s' does not survive that its worker dies %s:%n  %s%nWhat a later attempt needs must come from the payload or from results of steps, and what must not be repeated belongs into a step."
                .formatted(job.kind(), boundary, String.join("\n  ", wrong)));
      }
      moments.add(boundary.toString());
    }
    return moments;
  }

  /** What is not the same in two runs without a crash; only values may differ. */
  private static Set<String> varying(Job job, CrashRun one, CrashRun other) {
    Set<String> varying = new TreeSet<>();
    for (String fact : one.facts().keySet()) {
      if (!one.facts().get(fact).equals(other.facts().get(fact))) {
        varying.add(fact);
      }
    }
    if (!one.facts().keySet().equals(other.facts().keySet())
        || !one.counts().equals(other.counts())
        || !one.reached().equals(other.reached())) {
      throw new AssertionError(
          "two runs of '%s' without a crash are not the same, so what a crash changes cannot be seen:%n  %s %s%n  %s %s"
              .formatted(
                  job.kind(),
                  one.facts().keySet(),
                  one.counts(),
                  other.facts().keySet(),
                  other.counts()));
    }
    return varying;
  }

  private CrashRun run(Job job, @Nullable Boundary boundary) {
    return CrashRun.of(holdfast, worker, job, effects, answers, boundary);
  }
}
