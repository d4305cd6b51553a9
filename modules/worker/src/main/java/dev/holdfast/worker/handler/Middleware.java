package dev.holdfast.worker.handler;

import org.jspecify.annotations.Nullable;

/**
 * Runs around the handlers of a worker, on their threads: to measure or trace them, or to set what
 * they expect on their thread.
 *
 * <pre>{@code
 * .around((context, next) -> {
 *   try (Scope scope = tenants.enter(context.job().tenant())) {
 *     return next.run();
 *   }
 * })
 * }</pre>
 *
 * <p>It is not called for jobs whose handler is not called: those of an unknown kind, with a
 * payload that does not fit, or with artifacts that are published already. The bodies of {@link
 * JobContext#step steps} run on threads of their own.
 */
@FunctionalInterface
public interface Middleware {
  /**
   * What this returns is the result of the job, and what it throws fails the attempt, as with a
   * handler. Without a call of {@code next} the handler does not run.
   */
  @Nullable Object around(JobContext context, Next next) throws Exception;

  /** The next middleware, or the handler. */
  @FunctionalInterface
  interface Next {
    @Nullable Object run() throws Exception;
  }

  /** The handler with this middleware around it. */
  default <T> Handler<T> applied(Handler<T> handler) {
    return (payload, context) -> around(context, () -> handler.handle(payload, context));
  }
}
