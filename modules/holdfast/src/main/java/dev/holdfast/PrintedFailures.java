package dev.holdfast;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.worker.handler.JobListener;

/** Prints why jobs failed, for tests without a logger. */
final class PrintedFailures implements JobListener {
  @Override
  public void settled(LeasedJob job, Settlement settlement, Ack ack) {
    if (settlement instanceof Settlement.Fail fail) {
      System.err.printf("%s %s failed: %s%n", job.kind(), job.lease(), fail.failure().detail());
    }
  }
}
