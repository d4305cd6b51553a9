package dev.holdfast.server.lease;

import dev.holdfast.contract.lease.LeaseRequest;
import dev.holdfast.contract.task.TaskEnvelope;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.value.Limits;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tasks by pull: a worker asks, and waits if need be until there is one. */
public final class LeaseApi {
  private final LongPollBroker room;
  private final WakeUps wakeUps;
  private final Envelopes envelopes;
  private final Duration usual;

  /**
   * @param usual how long a lease lasts unless its worker wants it otherwise
   */
  public LeaseApi(LongPollBroker room, WakeUps wakeUps, Envelopes envelopes, Duration usual) {
    this.room = room;
    this.wakeUps = wakeUps;
    this.envelopes = envelopes;
    this.usual = usual;
  }

  public List<Route> routes() {
    return List.of(
        Route.post("/v1/queues/{queue}/lease", Guard.WORK, this::lease).maxBody(Route.SMALL));
  }

  private Answer lease(Call call) throws InterruptedException {
    LeaseRequest request = call.body(LeaseRequest.class);
    LongPollBroker.Line line =
        new LongPollBroker.Line(Limits.queue(call.value("queue")), call.caller().onlyTenant());
    Duration lease = request.leaseMs() == null ? usual : Duration.ofMillis(request.leaseMs());
    Claimed claimed = claimed(line, request, lease);
    List<TaskEnvelope> tasks = envelopes.of(claimed.jobs(), lease);
    @Nullable Duration nextDue = claimed.nextDue();
    return Answer.ok(new LeaseRequest.Answer(tasks, nextDue == null ? null : nextDue.toMillis()))
        .unsent(() -> room.giveBack(claimed.jobs()));
  }

  /** Whoever has leases of his own length keeps them up himself, and waits elsewhere. */
  private Claimed claimed(LongPollBroker.Line line, LeaseRequest request, Duration lease)
      throws InterruptedException {
    if (request.leaseMs() == null || request.patienceMs() > 0) {
      Duration patience = Duration.ofMillis(request.patienceMs());
      return new Claimed(
          room.lease(line, request.workerId(), request.most(), lease, patience), null);
    }
    long since = System.nanoTime();
    Claimed claimed = room.claim(line, request.workerId(), request.most(), lease);
    wakeUps.looked(line, since, claimed.jobs().size() == request.most());
    return claimed;
  }
}
