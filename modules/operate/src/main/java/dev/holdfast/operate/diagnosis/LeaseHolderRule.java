package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.ops.ProblemCode;
import dev.holdfast.model.value.Text;
import java.util.List;

/** A worker without a supervisor has not extended its leases in time. */
final class LeaseHolderRule implements Rule {
  private static final int NAME_CHARS = 200;

  @Override
  public List<Finding> check(Situation situation) {
    return situation.workers().alone(situation.workers().held()).stream()
        .filter(holder -> holder.isSilent(situation.workers().now()))
        .map(LeaseHolderRule::finding)
        .toList();
  }

  private static Finding finding(Holder holder) {
    String worker = holder.worker();
    boolean pushed = worker.startsWith(Dispatch.WORKER);
    return Finding.of(ProblemCode.WORKER_SILENT)
        .with(Finding.WORKER, Text.excerpt(worker, NAME_CHARS))
        .with(Finding.QUEUE, pushed ? worker.substring(Dispatch.WORKER.length()) : null)
        .with(Finding.PUSHED, pushed);
  }
}
