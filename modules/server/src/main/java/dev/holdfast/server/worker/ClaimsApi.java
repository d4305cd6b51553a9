package dev.holdfast.server.worker;

import dev.holdfast.contract.lease.LeaseRequest;
import dev.holdfast.contract.lease.QueueDepth;
import dev.holdfast.contract.lease.QueueWait;
import dev.holdfast.contract.task.TaskEnvelope;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.Queries;
import dev.holdfast.server.auth.Authenticator;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Requests of workers about queues: lease tasks, count them, wait for some. */
public final class ClaimsApi {
  private final Queries queries;
  private final LongPollBroker longPolls;
  private final WakeUps wakeUps;
  private final Envelopes envelopes;
  private final Timings usual;
  private final Authenticator authenticator;
  private final PollRecorder polls;

  /**
   * @param usual how long a lease and a cancel grace period last if its request does not say
   */
  public ClaimsApi(
      Queries queries,
      LongPollBroker longPolls,
      WakeUps wakeUps,
      Envelopes envelopes,
      Timings usual,
      Authenticator authenticator,
      PollRecorder polls) {
    this.queries = queries;
    this.longPolls = longPolls;
    this.wakeUps = wakeUps;
    this.envelopes = envelopes;
    this.usual = usual;
    this.authenticator = authenticator;
    this.polls = polls;
  }

  public List<Route> routes() {
    return List.of(
        Route.post("/v1/queues/{queue}/lease", Guard.WORK, this::lease).maxBody(Route.SMALL),
        Route.post("/v1/queues/depth", Guard.WORK, this::depth).maxBody(Route.SMALL),
        Route.post("/v1/queues/wait", Guard.WORK, this::await).maxBody(Route.SMALL));
  }

  private Answer lease(Call call) throws InterruptedException {
    LeaseRequest request = call.body(LeaseRequest.class);
    LongPollBroker.Line line =
        new LongPollBroker.Line(
            Limits.queue(call.value("queue")), call.caller().tenant(), request.kindVersions());
    Duration lease = or(request.leaseMs(), usual.lease());
    Duration cancelGrace = or(request.cancelGracePeriodMs(), usual.cancelGrace());
    LongPollBroker.Poll poll =
        new LongPollBroker.Poll(
            request.workerId(),
            request.most(),
            lease,
            cancelGrace,
            new CallersAdmission(call.caller()));
    polls.asks(request.workerId(), List.of(line), Duration.ofMillis(request.waitMillis()));
    Claimed claimed;
    try {
      claimed = claimed(line, request, poll, call);
    } finally {
      polls.answered(request.workerId(), List.of(line), call.client().isGone());
    }
    List<TaskEnvelope> tasks = envelopes.of(claimed.jobs(), lease, cancelGrace);
    @Nullable Duration nextDue = claimed.nextDue();
    return Answer.ok(new LeaseRequest.Answer(tasks, nextDue == null ? null : nextDue.toMillis()))
        .unsent(() -> longPolls.release(claimed.jobs()));
  }

  private static Duration or(@Nullable Long millis, Duration usual) {
    return millis == null ? usual : Duration.ofMillis(millis);
  }

  /** A worker that sets the length of its leases waits by {@code /v1/queues/wait} instead. */
  private Claimed claimed(
      LongPollBroker.Line line, LeaseRequest request, LongPollBroker.Poll poll, Call call)
      throws InterruptedException {
    if (request.leaseMs() == null || request.waitMillis() > 0) {
      Duration timeout = Duration.ofMillis(request.waitMillis());
      return new Claimed(longPolls.lease(line, poll, timeout, call.client()), null);
    }
    long since = System.nanoTime();
    Claimed claimed = longPolls.claim(line, poll);
    wakeUps.claimed(
        new LongPollBroker.Line(line.queue(), line.tenant()),
        since,
        claimed.jobs().size() == request.most());
    return claimed;
  }

  private final class CallersAdmission implements LongPollBroker.Admission {
    private final Caller caller;

    CallersAdmission(Caller caller) {
      this.caller = caller;
    }

    @Override
    public boolean mayClaim() {
      return authenticator.isStillGood(caller);
    }

    @Override
    public void check() {
      authenticator.authenticateAgain(caller);
    }
  }

  private Answer depth(Call call) {
    QueueDepth asked = call.body(QueueDepth.class);
    return Answer.ok(
        new QueueDepth.Answer(
            queries.depth(asked.queues(), asked.limit(), call.caller().tenant())));
  }

  private Answer await(Call call) throws InterruptedException {
    QueueWait wait = call.body(QueueWait.class);
    Set<LongPollBroker.Line> lines =
        wait.queues().stream()
            .map(name -> new LongPollBroker.Line(name, call.caller().tenant()))
            .collect(Collectors.toUnmodifiableSet());
    Duration timeout = Duration.ofMillis(wait.waitMs());
    polls.asks(wait.workerId(), lines, timeout);
    List<LongPollBroker.Line> woken;
    try {
      woken = wakeUps.await(wait.workerId(), lines, timeout, call.client());
    } finally {
      polls.answered(wait.workerId(), lines, call.client().isGone());
    }
    authenticator.authenticateAgain(call.caller());
    return Answer.ok(new QueueWait.Answer(woken.stream().map(LongPollBroker.Line::queue).toList()));
  }
}
