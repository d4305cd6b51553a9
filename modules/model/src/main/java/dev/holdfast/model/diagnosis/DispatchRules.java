package dev.holdfast.model.diagnosis;

import dev.holdfast.model.ops.DispatchError;
import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.QueueStatus;
import java.util.List;

/** Tasks of a queue cannot be pushed to its worker. */
final class DispatchRules {
  private DispatchRules() {}

  static List<Finding> check(Situation situation, QueueStatus queue, DispatchError error) {
    boolean waits = queue.due() + queue.delayed() + queue.retrying() > 0;
    // When the secret is refused, tasks fail: the finding is true although none waits any more.
    if (!waits && error.kind() != DispatchError.Kind.SECRET_REFUSED) {
      return List.of();
    }
    situation.explain(queue.name());
    return List.of(
        finding(queue.name(), error)
            .with(Finding.QUEUE, queue.name())
            .with(Finding.SINCE, error.since())
            .with(Finding.REASON, error.cause()));
  }

  private static Finding finding(String queue, DispatchError error) {
    String since =
        ", since %s (%s)%s"
            .formatted(
                Moments.text(error.since()),
                error.cause(),
                error.circuitOpen()
                    ? "; the circuit breaker is open, with single tries up to a minute apart"
                    : "");
    String show = "GET /v1/queues/%s".formatted(queue);
    String set = "PUT /v1/queues/%s/dispatch".formatted(queue);
    return switch (error.kind()) {
      case UNREACHABLE ->
          Finding.of(
              "dispatch_unreachable",
              "the worker that tasks of queue '%s' are pushed to does not answer".formatted(queue)
                  + since,
              "start the worker at the dispatch URL (%s shows it), or set another URL with %s; tasks are pushed again automatically"
                  .formatted(show, set));
      case FAILING ->
          Finding.of(
              "dispatch_failing",
              "the worker that tasks of queue '%s' are pushed to accepts none".formatted(queue)
                  + since,
              "look into the log of the worker at the dispatch URL (%s shows it); tasks are pushed again automatically"
                  .formatted(show));
      case SECRET_REFUSED ->
          Finding.of(
              "dispatch_secret_refused",
              "the worker that tasks of queue '%s' are pushed to refuses the dispatch secret"
                      .formatted(queue)
                  + since,
              "give both the same secret, here with %s, then retry the tasks that failed with DISPATCH_REFUSED"
                  .formatted(set));
      case NOT_ALLOWED ->
          Finding.of(
              "dispatch_not_allowed",
              "tasks of queue '%s' would be pushed to a host that is not allowed".formatted(queue)
                  + since,
              "name the host in HOLDFAST_DISPATCH_ALLOW of every server, or set another URL with "
                  + set);
    };
  }
}
