package dev.holdfast.contract.request;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.command.JobFork;
import dev.holdfast.model.value.Json;
import org.jspecify.annotations.Nullable;

/**
 * New jobs that go on from a step of another one.
 *
 * @param times how many; 1 unless given
 * @param payload in place of that of the job
 * @param key of two forks of a job with the same key the second makes no jobs
 */
public record ForkRequest(
    String fromStep, @Nullable Integer times, @Nullable Json payload, @Nullable String key) {
  public ForkRequest {
    Wire.present("fromStep", fromStep);
  }

  public static ForkRequest of(JobFork fork) {
    return new ForkRequest(fork.fromStep(), fork.times(), fork.payload(), fork.key());
  }

  public JobFork fork() {
    return new JobFork(fromStep, times == null ? 1 : times, payload, key);
  }
}
