package dev.holdfast.programs;

import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.JsonFields;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.model.wait.WaitForm;
import dev.holdfast.redaction.Scrubber;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a program asks its worker to do once it has ended well: to start jobs, and to wait. Nothing
 * of it is done before, and nothing at all unless every line of it is understood: a program whose
 * wait was passed over would count as done.
 */
final class AskedByProgram {
  /** How many jobs one line may start; as many as one call of the worker contract. */
  static final int MOST_JOBS = 1_000;

  static final int MOST_CHARS = 64 << 20;

  private final Codec codec;
  private final Scrubber scrubber;
  private final List<Start> starts = new ArrayList<>();
  private @Nullable Wait wait;
  private @Nullable Failure wrong;
  private long chars;

  /** Jobs to be started under an id. */
  record Start(String id, List<Job> jobs) {}

  AskedByProgram(Codec codec, Scrubber scrubber) {
    this.codec = codec;
    this.scrubber = scrubber;
  }

  // ---- as its lines come

  /** A line that is to wait, with nothing else. */
  synchronized void suspend(@Nullable Object said) {
    try {
      JsonFields fields = JsonFields.of(said);
      Wait asked = WaitForm.read(fields, "sort");
      fields.end();
      wait = asked.scrubbed(scrubber::scrub);
    } catch (RefusedException refused) {
      refuse(refused.at("suspend"));
    }
  }

  /**
   * A line that starts jobs.
   *
   * @param length of the line
   */
  synchronized void children(@Nullable Object said, int length) {
    try {
      chars += length;
      if (chars > MOST_CHARS || starts.size() >= Limits.STEPS) {
        throw new RefusedException(
            Refusal.BAD_LIMIT,
            "a program may start jobs under %,d ids and by %,d characters in all"
                .formatted(Limits.STEPS, MOST_CHARS));
      }
      starts.add(start(JsonFields.of(said)));
    } catch (RefusedException refused) {
      refuse(refused.at("children"));
    }
  }

  /** Another line came after the one that waits. */
  synchronized boolean isWaiting() {
    return wait != null;
  }

  /** A line that asks for something cannot be taken; the first one says why the attempt fails. */
  synchronized void refuse(RefusedException refused) {
    if (wrong == null) {
      String code =
          refused.refusal() == Refusal.PAYLOAD_MISMATCH
              ? Failure.VALIDATION
              : refused.refusal().name();
      wrong =
          Failure.of(FailureCategory.USER_CODE, code, String.valueOf(refused.getMessage()))
              .withRetryable(false);
    }
  }

  private Start start(JsonFields asked) {
    String id = Limits.stepId(asked.text("startedAs"));
    List<?> jobs = asked.list("jobs");
    asked.end();
    if (jobs.size() > MOST_JOBS) {
      throw asked.wrong("jobs", "may have %,d jobs".formatted(MOST_JOBS));
    }
    List<Job> made = new ArrayList<>();
    for (Object each : jobs) {
      try {
        JsonFields fields = JsonFields.of(each);
        Job job = job(fields);
        fields.end();
        made.add(job);
      } catch (RefusedException refused) {
        throw refused.at("jobs[" + made.size() + "]");
      }
    }
    return new Start(id, made);
  }

  private Job job(JsonFields fields) {
    Object payload = fields.value("payload");
    Job job = Job.of(fields.text("kind"), payload == null ? Json.EMPTY : codec.encode(payload));
    String queue = fields.textOrNull("queue");
    Integer priority = fields.smallOrNull("priority");
    Object resources = fields.value("resources");
    String asset = fields.textOrNull("assetId");
    String partition = fields.textOrNull("partitionKey");
    List<String> tags = fields.texts("tags");
    job = queue == null ? job : job.queue(queue);
    job = priority == null ? job : job.priority(priority);
    job = resources == null ? job : job.resources(codec.encode(resources));
    job = asset == null ? job : job.assetId(asset);
    job = partition == null ? job : job.partitionKey(partition);
    return limited(timed(tags.isEmpty() ? job : job.tags(tags), fields), fields);
  }

  private static Job timed(Job given, JsonFields fields) {
    Long delay = fields.wholeOrNull("delayMs");
    Instant runAt = fields.momentOrNull("runAt");
    Long timeout = fields.wholeOrNull("timeoutMs");
    Instant deadline = fields.momentOrNull("deadline");
    if (delay != null && runAt != null) {
      throw fields.wrong("runAt", "and 'delayMs' cannot both be given");
    }
    Job job = delay == null ? given : given.delay(Duration.ofMillis(delay));
    job = runAt == null ? job : job.runAt(runAt);
    job = timeout == null ? job : job.timeout(Duration.ofMillis(timeout));
    return deadline == null ? job : job.deadline(deadline);
  }

  private static Job limited(Job given, JsonFields fields) {
    Integer attempts = fields.smallOrNull("maxAttempts");
    Integer crashes = fields.smallOrNull("maxCrashes");
    String key = fields.textOrNull("concurrencyKey");
    Integer limit = fields.smallOrNull("concurrencyLimit");
    Job job = attempts == null ? given : given.maxAttempts(attempts);
    job = crashes == null ? job : job.maxCrashes(crashes);
    if (key == null && limit != null) {
      throw fields.wrong("concurrencyLimit", "needs 'concurrencyKey'");
    }
    return key == null ? job : job.concurrencyKey(key, limit == null ? 1 : limit);
  }

  // ---- when it has ended well

  /**
   * Throws if not all of it is understood, or if it does not fit together.
   *
   * @param lastLines that it has printed
   */
  synchronized void check(boolean hasOutput, String lastLines) {
    if (wait != null && hasOutput) {
      refuse(
          new RefusedException(
              Refusal.PAYLOAD_MISMATCH,
              "suspend: the program waits and has given an output, which would be lost: give it in the call that ends the job"));
    }
    if (wrong != null) {
      throw new FailedException(wrong.withStackTrace(lastLines));
    }
  }

  synchronized List<Start> starts() {
    return List.copyOf(starts);
  }

  synchronized @Nullable Wait waitFor() {
    return wait;
  }
}
