package dev.holdfast.programs;

import dev.holdfast.JacksonCodec;
import dev.holdfast.WorkplaceTest;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.handler.Kind;
import java.util.List;
import java.util.Map;

/** A worker whose handlers are shell scripts. */
abstract class ProgramFixture extends WorkplaceTest {
  static final JacksonCodec CODEC = new JacksonCodec();

  Kind<Json> shell(String script, String... artifacts) {
    return kind(List.of("sh", "-c", script), Map.of(), artifacts);
  }

  Kind<Json> kind(List<String> command, Map<String, String> environment, String... artifacts) {
    return new Program(command, folder, environment, List.of(artifacts))
        .kind("program", CODEC)
        .retry(RetryPolicy.NONE);
  }

  /** Runs one job to its end. */
  JobId ran(Kind<Json> kind, Job job) {
    JobId id = enqueue(job);
    worker().handle(kind).drain();
    return id;
  }

  JobId ran(String script) {
    return ran(shell(script), Job.of("program").maxAttempts(1));
  }
}
