package dev.holdfast.upgrade;

import dev.holdfast.Holdfast;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Jobs in every state, and something of all else that an installation has in its database. */
final class EveryState {
  /** The queue with jobs that can run. */
  static final String QUEUE = "every-state";

  private static final Duration LEASE = Duration.ofHours(1);

  private final Holdfast holdfast;

  EveryState(Holdfast holdfast) {
    this.holdfast = holdfast;
  }

  void make() {
    holdfast.enqueue(Job.of("echo", "pending").queue(QUEUE).uniqueKey("one"));
    holdfast.enqueue(Job.of("echo", "keyed").queue(QUEUE).concurrencyKey("key", 1));
    holdfast.enqueue(Job.of("echo", "delayed").queue(QUEUE).delay(Duration.ofDays(1)));
    Job first = Job.of("echo", "first").queue("stays").delay(Duration.ofDays(1));
    holdfast.enqueue(List.of(first, Job.of("echo", "waiting").queue(QUEUE).dependsOn(first.id())));

    claimed("running");
    settled("succeeded", job -> new Settlement.Succeed(job, new Json("{\"n\": 1}")));
    settled("failed", job -> new Settlement.Fail(job, failure("NO_HANDLER"), null));
    settled(
        "retrying", job -> new Settlement.Fail(job, failure("HANDLER_FAILED"), Duration.ofDays(1)));
    JobId cancelled = holdfast.enqueue(Job.of("echo").queue("cancelled")).id();
    holdfast.jobs().cancel(List.of(cancelled), false, "no longer needed", Tenant.ANY);
    JobId stopping = claimed("cancel-requested").id();
    holdfast.jobs().cancel(List.of(stopping), false, "no longer needed", Tenant.ANY);
    holdfast.enqueue(
        IntStream.range(0, 150).mapToObj(i -> Job.of("echo", i).queue("batch")).toList());
    holdfast
        .jobs()
        .claim(
            new ClaimRequest("batch", 120, "w", LEASE)
                .cancelGrace(Duration.ofMinutes(1))
                .inBatches());

    holdfast.admin().pause("paused");
    holdfast.admin().rate("limited", 10, Duration.ofMinutes(1));
    holdfast
        .admin()
        .schedule(Schedule.of("nightly", "0 3 * * *", ZoneId.of("UTC"), Job.of("echo")));
    holdfast.jobs().announce(List.of(QUEUE), List.of("echo"));
    holdfast.jobs().enqueueOnce("scope", "key", "digest", List.of(Job.of("echo").queue("stays")));
  }

  private LeasedJob claimed(String queue) {
    holdfast.enqueue(Job.of("echo", queue).queue(queue));
    return holdfast.jobs().claim(new ClaimRequest(queue, 1, "w", LEASE)).jobs().getFirst();
  }

  private void settled(String queue, Function<Lease, Settlement> settlement) {
    holdfast.jobs().settle(settlement.apply(claimed(queue).lease()));
  }

  private static Failure failure(String code) {
    return Failure.of(FailureCategory.USER_CODE, code, "for a test");
  }
}
