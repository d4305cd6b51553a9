package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.DispatchError;
import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.ProblemCode;
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
        Finding.of(problem(error.kind()))
            .with(Finding.QUEUE, queue.name())
            .with(Finding.SINCE, error.since())
            .with(Finding.REASON, error.cause())
            .with(Finding.CIRCUIT_OPEN, error.circuitOpen()));
  }

  private static ProblemCode problem(DispatchError.Kind kind) {
    return switch (kind) {
      case UNREACHABLE -> ProblemCode.DISPATCH_UNREACHABLE;
      case FAILING -> ProblemCode.DISPATCH_FAILING;
      case SECRET_REFUSED -> ProblemCode.DISPATCH_SECRET_REFUSED;
      case NOT_ALLOWED -> ProblemCode.DISPATCH_NOT_ALLOWED;
    };
  }
}
