package dev.holdfast.chaos.load;

import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.worker.handler.Child;
import dev.holdfast.worker.handler.ChildFailedException;
import dev.holdfast.worker.handler.JobContext;
import java.util.List;
import java.util.Map;

/** Jobs that wait for the first of several others, or for others of which one fails. */
final class StartedJobs {
  static final String ANY = "choosing";
  static final String FAIL_FAST = "daring";
  static final String FAILING = "doomed";
  private static final int NEVER = 1_000;

  private StartedJobs() {}

  static Object waitForAny(ChaosKinds.Work work, JobContext context) throws Exception {
    Records.ran(context);
    List<Child> children =
        context.spawn("kids", List.of(child(5), child(work.millis()), child(1_500)));
    ChildEnd first = context.any("first", children);
    return Map.of(
        "attempt", context.lease().attempt(), "first", first.job(), "state", first.state());
  }

  static Object waitForAll(ChaosKinds.Work work, JobContext context) throws Exception {
    Records.ran(context);
    Job failing = Job.of(FAILING, new ChaosKinds.Work(work.millis(), 0));
    List<Child> children =
        context.spawn(
            "kids", List.of(child(2_000), failing.maxCrashes(NEVER).maxAttempts(NEVER), child(5)));
    String failed = "none";
    try {
      context.join("all", children);
    } catch (ChildFailedException expected) {
      failed = expected.child().job().toString();
    }
    return Map.of("attempt", context.lease().attempt(), "failed", failed);
  }

  private static Job child(int millis) {
    return Job.of("plain", new ChaosKinds.Work(millis, 0)).maxAttempts(NEVER).maxCrashes(NEVER);
  }

  static Object fail(ChaosKinds.Work work, JobContext context) throws Exception {
    Records.ran(context);
    Thread.sleep(work.millis());
    throw FailedException.of(FailureCategory.DATA_QUALITY, "DOOMED", "as it was meant to");
  }
}
