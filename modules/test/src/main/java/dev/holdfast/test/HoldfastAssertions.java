package dev.holdfast.test;

import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;

/**
 * {@code assertThat(holdfast).enqueued("send-mail").once()}. May be imported beside the {@code
 * assertThat} of AssertJ.
 */
public final class HoldfastAssertions {
  private final Holdfast holdfast;

  private HoldfastAssertions(Holdfast holdfast) {
    this.holdfast = holdfast;
  }

  /** Of the jobs that this object sees. */
  public static HoldfastAssertions assertThat(Holdfast holdfast) {
    return new HoldfastAssertions(holdfast);
  }

  /** The committed jobs of this kind, whatever became of them. */
  public JobsAssert enqueued(String kind) {
    return JobsAssert.of(holdfast, kind);
  }

  /** Jobs that this worker runs, and what becomes of them when it is killed. */
  public WorkerAssert running(WorkerBuilder worker) {
    return WorkerAssert.of(holdfast, worker);
  }
}
