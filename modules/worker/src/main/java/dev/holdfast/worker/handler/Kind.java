package dev.holdfast.worker.handler;

import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.job.JobDefaults;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.PayloadType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A kind of job and what runs it.
 *
 * @param retry how long a failed job waits; null is as the queue has it, by kind and queue
 * @param strict stop the handler when its lease may have run out, even before a call says so: two
 *     executions of such a job never overlap, at the price of stopping during an outage
 * @param artifacts what it publishes: a retry that finds all of them whole has nothing left to do
 * @param threads what its handlers run on
 * @param defaults what its jobs are enqueued with where they do not say so, by the {@code Holdfast}
 *     that a worker with this kind belongs to
 * @param version of the handler; 0 for none
 */
public record Kind<T>(
    String name,
    PayloadType<T> payload,
    Handler<T> handler,
    @Nullable RetryPolicy retry,
    boolean strict,
    List<String> artifacts,
    Threads threads,
    JobDefaults defaults,
    int version) {
  public Kind {
    Limits.kind(name);
    if (version != 0) {
      KindVersion.check(version);
    }
    if (payload.type() == Void.class || payload.type() == void.class) {
      throw new IllegalArgumentException(
          "kind '"
              + name
              + "': no payload is a Void. A handler without one is registered without a type:"
              + " handle(\""
              + name
              + "\", context -> …)");
    }
    artifacts = List.copyOf(artifacts);
    artifacts.forEach(Limits::artifactName);
  }

  /** For payloads of a class, such as a record. */
  public static <T> Kind<T> of(String name, Class<T> payload, Handler<T> handler) {
    return of(name, PayloadType.of(payload), handler);
  }

  /** For jobs without a payload; whatever payload one has is passed over. */
  public static Kind<Json> of(String name, Handler.WithoutPayload handler) {
    return of(name, Json.class, (payload, context) -> handler.handle(context));
  }

  /** For payloads whose type has parameters: {@code new PayloadType<List<Mail>>() {}}. */
  public static <T> Kind<T> of(String name, PayloadType<T> payload, Handler<T> handler) {
    return new Kind<>(
        name, payload, handler, null, false, List.of(), Threads.AUTO, JobDefaults.NONE, 0);
  }

  /** What its jobs are enqueued with where they do not say so themselves. */
  public Kind<T> defaults(JobDefaults values) {
    return new Kind<>(name, payload, handler, retry, strict, artifacts, threads, values, version);
  }

  /** The same kind, run by another handler. */
  public Kind<T> handler(Handler<T> other) {
    return new Kind<>(name, payload, other, retry, strict, artifacts, threads, defaults, version);
  }

  /** How long its failed jobs wait for their next attempt. */
  public Kind<T> retry(RetryPolicy policy) {
    return new Kind<>(
        name, payload, handler, policy, strict, artifacts, threads, defaults, version);
  }

  /** Stops the handler when its lease may have run out: two executions never overlap. */
  public Kind<T> strictly() {
    return new Kind<>(name, payload, handler, retry, true, artifacts, threads, defaults, version);
  }

  /** What it publishes: a retry that finds all of them whole has nothing left to do. */
  public Kind<T> producing(String... names) {
    return new Kind<>(
        name, payload, handler, retry, strict, List.of(names), threads, defaults, version);
  }

  /** What its handlers run on. */
  public Kind<T> threads(Threads which) {
    return new Kind<>(name, payload, handler, retry, strict, artifacts, which, defaults, version);
  }

  /**
   * With a version. A job that has begun steps, waits or jobs of its own with one is run by
   * handlers of that version and by no others; all other jobs are run by the highest that their
   * worker has. A worker may have several versions of a kind: register one kind for each.
   *
   * @param number from 1
   */
  public Kind<T> version(int number) {
    return new Kind<>(
        name,
        payload,
        handler,
        retry,
        strict,
        artifacts,
        threads,
        defaults,
        KindVersion.check(number));
  }
}
