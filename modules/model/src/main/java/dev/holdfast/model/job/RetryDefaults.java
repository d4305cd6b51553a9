package dev.holdfast.model.job;

import dev.holdfast.model.value.JobLimits;
import dev.holdfast.model.value.Limits;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How often jobs are tried, and how long they wait in between, unless the job or its failure says
 * so. The value of the kind overrides that of the queue, and that the value for all jobs; what none
 * of them has is taken from {@link Job} and {@link RetryPolicy}.
 */
public record RetryDefaults(Retries all, Map<String, Retries> kinds, Map<String, Retries> queues) {
  /** No values. */
  public static final RetryDefaults NONE = of(Retries.UNSET);

  /** Values for some jobs; null leaves a value to the next level. */
  public record Retries(@Nullable Integer maxAttempts, @Nullable RetryPolicy policy) {
    /** No values. */
    public static final Retries UNSET = new Retries(null, null);

    public Retries {
      if (maxAttempts != null) {
        JobLimits.maxAttempts(maxAttempts);
      }
    }
  }

  public RetryDefaults {
    kinds = Map.copyOf(kinds);
    queues = Map.copyOf(queues);
    kinds.keySet().forEach(Limits::kind);
    queues.keySet().forEach(Limits::queue);
  }

  /** The same for all jobs. */
  public static RetryDefaults of(Retries all) {
    return new RetryDefaults(all, Map.of(), Map.of());
  }

  /** For a job that does not say so itself. */
  public int maxAttempts(String kind, String queue) {
    Integer said = first(kind, queue, Retries::maxAttempts);
    return said == null ? Job.DEFAULT_MAX_ATTEMPTS : said;
  }

  /** For a job whose kind does not say so itself. */
  public RetryPolicy policy(String kind, String queue) {
    RetryPolicy said = first(kind, queue, Retries::policy);
    return said == null ? RetryPolicy.DEFAULT : said;
  }

  /** The job, with the values it does not have itself. */
  public Job applied(Job job) {
    return job.maxAttempts() == null ? job.maxAttempts(maxAttempts(job.kind(), job.queue())) : job;
  }

  private <T> @Nullable T first(String kind, String queue, Function<Retries, @Nullable T> value) {
    return Stream.of(
            kinds.getOrDefault(kind, Retries.UNSET), queues.getOrDefault(queue, Retries.UNSET), all)
        .flatMap(retries -> Stream.ofNullable(value.apply(retries)))
        .findFirst()
        .orElse(null);
  }
}
