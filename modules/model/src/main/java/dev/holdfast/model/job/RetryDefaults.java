package dev.holdfast.model.job;

import dev.holdfast.model.value.Limits;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How often jobs are tried, and how long they wait in between, where neither the job nor whoever
 * failed it says so. What is known of the kind wins over what is known of the queue, and that over
 * what holds for all; whatever none of them says is as {@link Job} and {@link RetryPolicy} have it.
 */
public record RetryDefaults(Retries all, Map<String, Retries> kinds, Map<String, Retries> queues) {
  /** Nothing is said. */
  public static final RetryDefaults NONE = of(Retries.UNSAID);

  /** For some jobs; null is left to others. */
  public record Retries(@Nullable Integer maxAttempts, @Nullable RetryPolicy policy) {
    public static final Retries UNSAID = new Retries(null, null);

    public Retries {
      if (maxAttempts != null) {
        Job.checkMaxAttempts(maxAttempts);
      }
    }
  }

  public RetryDefaults {
    kinds = Map.copyOf(kinds);
    queues = Map.copyOf(queues);
    kinds.keySet().forEach(Limits::kind);
    queues.keySet().forEach(Limits::queue);
  }

  public static RetryDefaults of(Retries all) {
    return new RetryDefaults(all, Map.of(), Map.of());
  }

  public int maxAttempts(String kind, String queue) {
    Integer said = first(kind, queue, Retries::maxAttempts);
    return said == null ? Job.DEFAULT_MAX_ATTEMPTS : said;
  }

  public RetryPolicy policy(String kind, String queue) {
    RetryPolicy said = first(kind, queue, Retries::policy);
    return said == null ? RetryPolicy.DEFAULT : said;
  }

  /** The job, with what it does not say itself. */
  public Job applied(Job job) {
    return job.maxAttempts() == null ? job.maxAttempts(maxAttempts(job.kind(), job.queue())) : job;
  }

  private <T> @Nullable T first(String kind, String queue, Function<Retries, @Nullable T> value) {
    return Stream.of(
            kinds.getOrDefault(kind, Retries.UNSAID),
            queues.getOrDefault(queue, Retries.UNSAID),
            all)
        .flatMap(retries -> Stream.ofNullable(value.apply(retries)))
        .findFirst()
        .orElse(null);
  }
}
