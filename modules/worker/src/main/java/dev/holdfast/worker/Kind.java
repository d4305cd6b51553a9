package dev.holdfast.worker;

import dev.holdfast.model.Limits;
import dev.holdfast.model.RetryPolicy;

/**
 * A kind of job and what runs it.
 *
 * @param strict stop the handler when its lease may have run out, even if nobody has said so: two
 *     executions of such a job never overlap, at the price of stopping during an outage
 */
public record Kind<T>(
    String name, Class<T> payload, Handler<T> handler, RetryPolicy retry, boolean strict) {
  public Kind {
    Limits.kind(name);
  }

  public static <T> Kind<T> of(String name, Class<T> payload, Handler<T> handler) {
    return new Kind<>(name, payload, handler, RetryPolicy.DEFAULT, false);
  }

  public Kind<T> retry(RetryPolicy policy) {
    return new Kind<>(name, payload, handler, policy, strict);
  }

  public Kind<T> strictly() {
    return new Kind<>(name, payload, handler, retry, true);
  }
}
