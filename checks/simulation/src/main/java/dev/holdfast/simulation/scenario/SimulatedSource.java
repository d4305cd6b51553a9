package dev.holdfast.simulation.scenario;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Subscription;
import dev.holdfast.simulation.queue.Interpreter;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.worker.maintenance.Reaper;
import dev.holdfast.worker.source.JobSource;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** The queue as a worker process reaches it: over the network, with rules that watch. */
final class SimulatedSource implements JobSource, Reaper.Verbs {
  private final Interpreter queue;
  private final Network network;
  private final Rules rules;
  private final String process;
  private final Notifications notifications;

  SimulatedSource(
      Interpreter queue,
      Network network,
      Rules rules,
      Notifications notifications,
      String process) {
    this.queue = queue;
    this.network = network;
    this.rules = rules;
    this.notifications = notifications;
    this.process = process;
  }

  private <A> A call(Verb<A> verb) {
    return network.call(process, verb, queue);
  }

  @Override
  public Claimed claim(
      String name, int most, String worker, Timings timings, List<KindVersion> versions) {
    return call(new Verb.Claim(name, most, worker, timings.lease(), timings.cancelGrace()));
  }

  @Override
  public List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease) {
    return call(new Verb.Heartbeat(leases, lease));
  }

  @Override
  public List<HeartbeatResult> commands(String worker) {
    rules.checkPlaces(process);
    return call(new Verb.Commands(worker));
  }

  @Override
  public List<Ack> report(List<Report> reports) {
    rules.checkSecrets(reports);
    return network.call(
        process,
        "report",
        () -> {
          rules.writes(reports);
          return queue.call(new Verb.WriteReports(reports));
        });
  }

  @Override
  public List<StepStatus> steps(Lease lease) {
    return call(new Verb.Steps(lease));
  }

  @Override
  public Optional<Patch> patch(Lease lease, String step) {
    return Optional.empty();
  }

  @Override
  public Ack publish(Publication publication) {
    return call(new Verb.Publish(publication));
  }

  @Override
  public List<PublishedArtifact> artifacts(Lease lease) {
    return call(new Verb.Artifacts(lease));
  }

  @Override
  public List<Ack> settle(List<Settlement> settlements) {
    rules.checkSecrets(settlements);
    return network.call(
        process,
        "settle",
        () -> {
          List<Ack> acks = queue.call(new Verb.Settle(settlements));
          rules.settled(settlements, acks);
          return acks;
        });
  }

  @Override
  public WaitAnswer suspend(Suspension suspension) {
    return call(new Verb.Suspend(suspension));
  }

  @Override
  public Ack startChildren(Children children) {
    return call(
        new Verb.Start(
            children.lease(),
            children.id(),
            children.index(),
            children.jobs().stream()
                .map(job -> new Verb.Child(job.id(), job.kind(), (Json) job.payload()))
                .toList()));
  }

  @Override
  public List<ChildEnd> children(Lease lease, List<JobId> jobs) {
    return call(new Verb.Ends(lease, jobs));
  }

  @Override
  public boolean succeeded(Lease lease) {
    return call(new Verb.Succeeded(lease));
  }

  @Override
  public List<Lease> heldBy(String worker) {
    return call(new Verb.HeldBy(worker));
  }

  @Override
  public long depth(List<String> queues, long most) {
    return 0;
  }

  @Override
  public void promote() {
    var unused = network.call(process, "sweep", () -> queue.call(new Verb.Promote()));
  }

  @Override
  public Map<String, Integer> reapAndExpire(Duration grace) {
    return network.call(
        process,
        "sweep",
        () -> {
          rules.beforeReaping();
          Map<String, Integer> recovered = queue.call(new Verb.ReapAndExpire(grace));
          rules.reaped(process);
          return recovered;
        });
  }

  @Override
  public Map<String, Integer> expireCancelled(Duration age) {
    return Map.of();
  }

  @Override
  public Subscription listen(Collection<String> queues, Consumer<String> wake) {
    return notifications.listen(queues, wake);
  }
}
