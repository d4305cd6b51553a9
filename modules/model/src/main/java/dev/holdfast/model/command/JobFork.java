package dev.holdfast.model.command;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Plural;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * New jobs that go on from a step of another one: they have what was done before it, and do the
 * rest again. The other job stays as it is.
 *
 * @param fromStep the id of the first step, wait or start of jobs that they do themselves
 * @param times how many jobs
 * @param payload in place of that of the job; null for the same
 * @param key of two forks of a job with the same key the second makes no jobs; null for none
 */
public record JobFork(String fromStep, int times, @Nullable Json payload, @Nullable String key) {
  /** So many at once. */
  public static final int MOST = 100;

  /** What is copied at once, for all of them together. */
  public static final long MOST_BYTES = 256L << 20;

  /** So many steps a refusal names. */
  public static final int MOST_NAMED = 50;

  public JobFork {
    Limits.stepId(fromStep);
    if (times < 1 || times > MOST) {
      throw new RefusedException(
          Refusal.BAD_LIMIT, "times is %d: it must be between 1 and %d".formatted(times, MOST));
    }
    if (payload != null) {
      Limits.payload(payload);
    }
    if (key != null) {
      Limits.key("key", key);
    }
  }

  /** Whether there are forks now. */
  public enum Answer {
    FORKED,
    /** They were made before, under the same key. */
    DUPLICATE,
    NO_SUCH_JOB,
    NO_SUCH_STEP,
    /** Other forks were made under the same key. */
    KEY_REUSED,
    /** A job that was started before the step has not ended: no fork could wait for it. */
    CHILDREN_RUN,
    /** Jobs that were started before the step have been deleted, and their results with them. */
    CHILDREN_GONE,
    TOO_LARGE,
    /** The payload of the job could not be read, and none is given. */
    NO_PAYLOAD
  }

  /**
   * What became of it.
   *
   * @param jobs the forks
   * @param steps the ids that the job knows, where it has no such step; some of very many
   * @param about the start of jobs because of which it was refused
   */
  public record Outcome(
      Answer answer, List<JobId> jobs, List<String> steps, @Nullable String about) {
    public Outcome {
      jobs = List.copyOf(jobs);
      steps = List.copyOf(steps);
    }

    public static Outcome forked(Answer answer, List<JobId> jobs) {
      return new Outcome(answer, jobs, List.of(), null);
    }

    public static Outcome refused(Answer answer, @Nullable String about) {
      return new Outcome(answer, List.of(), List.of(), about);
    }

    public static Outcome noSuchStep(List<String> steps) {
      return new Outcome(Answer.NO_SUCH_STEP, List.of(), steps, null);
    }
  }

  /** Why it was refused. */
  public String refusal(Outcome outcome) {
    return switch (outcome.answer()) {
      case FORKED, DUPLICATE -> throw new IllegalArgumentException("there are forks");
      case NO_SUCH_JOB -> "there is no such job";
      case NO_SUCH_STEP ->
          "the job has no step '%s'; ".formatted(fromStep)
              + (outcome.steps().isEmpty()
                  ? "it has begun none: enqueue it again instead"
                  : "it has " + named(outcome.steps()));
      case KEY_REUSED -> "other forks of the job were made with key '%s'".formatted(key);
      case CHILDREN_RUN ->
          "jobs that were started by '%s' have not ended: fork it when they have, or from there"
              .formatted(outcome.about());
      case CHILDREN_GONE ->
          "jobs that were started by '%s' have been deleted, and their results with them: fork it from there"
              .formatted(outcome.about());
      case TOO_LARGE ->
          "what was done before '%s' has more than %,d bytes for %s: make fewer at once"
              .formatted(fromStep, MOST_BYTES, Plural.of(times, "fork"));
      case NO_PAYLOAD -> "the payload of the job could not be read: give another one";
    };
  }

  private static String named(List<String> steps) {
    List<String> some = steps.subList(0, Math.min(MOST_NAMED, steps.size()));
    return String.join(", ", some) + (some.size() < steps.size() ? " and more" : "");
  }
}
