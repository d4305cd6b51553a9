package dev.holdfast.simulation.scenario;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.value.Subscription;
import dev.holdfast.simulation.queue.QueueVerbs;
import dev.holdfast.worker.source.JobSource;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** The queue as a worker process reaches it: over the network, with rules that watch. */
final class SimulatedSource implements JobSource {
  private final QueueVerbs queue;
  private final Network network;
  private final Rules rules;
  private final String process;
  private final Notifications notifications;

  SimulatedSource(
      QueueVerbs queue, Network network, Rules rules, Notifications notifications, String process) {
    this.queue = queue;
    this.network = network;
    this.rules = rules;
    this.notifications = notifications;
    this.process = process;
  }

  @Override
  public Claimed claim(String name, int most, String worker, Timings timings) {
    return network.call(
        process,
        "claim",
        () -> queue.claim(name, most, worker, timings.lease(), timings.cancelGrace()));
  }

  @Override
  public List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease) {
    return network.call(process, "heartbeat", () -> queue.heartbeat(leases, lease));
  }

  @Override
  public List<HeartbeatResult> commands(String worker) {
    return network.call(process, "commands", () -> queue.commands(worker));
  }

  @Override
  public List<Ack> report(List<Report> reports) {
    rules.checkSecrets(reports);
    return network.call(
        process,
        "report",
        () -> {
          rules.writes(reports);
          return queue.report(reports);
        });
  }

  @Override
  public List<StepStatus> steps(Lease lease) {
    return network.call(process, "steps", () -> queue.steps(lease));
  }

  @Override
  public Optional<Patch> patch(Lease lease, String step) {
    return Optional.empty();
  }

  @Override
  public Ack publish(Publication publication) {
    return network.call(process, "publish", () -> queue.publish(publication));
  }

  @Override
  public List<PublishedArtifact> artifacts(Lease lease) {
    return network.call(process, "artifacts", () -> queue.artifacts(lease));
  }

  @Override
  public List<Ack> settle(List<Settlement> settlements) {
    rules.checkSecrets(settlements);
    return network.call(
        process,
        "settle",
        () -> {
          List<Ack> acks = queue.settle(settlements);
          rules.settled(settlements, acks);
          return acks;
        });
  }

  @Override
  public boolean succeeded(Lease lease) {
    return network.call(process, "succeeded", () -> queue.succeeded(lease));
  }

  @Override
  public List<Lease> heldBy(String worker) {
    return network.call(process, "heldBy", () -> queue.heldBy(worker));
  }

  @Override
  public long depth(List<String> queues, long most) {
    return 0;
  }

  @Override
  public Map<String, Integer> sweep(Timings timings, boolean reapLeases) {
    return network.call(
        process,
        reapLeases ? "reapAndExpire" : "promote",
        () -> {
          if (!reapLeases) {
            queue.promote();
            return Map.of();
          }
          rules.beforeReaping();
          Map<String, Integer> recovered = queue.reapAndExpire(timings.reapGrace());
          rules.reaped(process);
          return recovered;
        });
  }

  @Override
  public Subscription listen(Collection<String> queues, Consumer<String> wake) {
    return notifications.listen(queues, wake);
  }
}
