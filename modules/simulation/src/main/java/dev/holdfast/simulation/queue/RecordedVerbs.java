package dev.holdfast.simulation.queue;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.JobId;
import dev.holdfast.simulation.trace.Call;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Writes down every call and its answer, in a form in which it can be made again. */
public final class RecordedVerbs implements QueueVerbs {
  private final QueueVerbs verbs;
  private final LongSupplier micros;
  private final Supplier<String> caller;
  private final Consumer<Call> record;

  public RecordedVerbs(
      QueueVerbs verbs, LongSupplier micros, Supplier<String> caller, Consumer<Call> record) {
    this.verbs = verbs;
    this.micros = micros;
    this.caller = caller;
    this.record = record;
  }

  private <T> T call(
      String verb, List<String> arguments, Supplier<T> made, Function<T, String> shown) {
    long at = micros.getAsLong();
    T answer = made.get();
    record.accept(new Call(at, caller.get(), verb, arguments, shown.apply(answer)));
    return answer;
  }

  private boolean done(String verb, List<String> arguments, Runnable made) {
    return call(
        verb,
        arguments,
        () -> {
          made.run();
          return true;
        },
        it -> "");
  }

  private static String millis(Duration duration) {
    return String.valueOf(duration.toMillis());
  }

  /** Makes a call that was written down on another queue; the answer in the same form. */
  public static String repeat(Call call, QueueVerbs verbs) {
    List<String> given = call.arguments();
    List<Call> made = new ArrayList<>();
    RecordedVerbs on = new RecordedVerbs(verbs, () -> 0, () -> "", made::add);
    Object unused =
        switch (call.verb()) {
          case "enqueue" -> on.enqueue(JobSpec.parse(given.getFirst()));
          case "begin" -> on.begun(JobSpec.parse(given.getFirst()));
          case "commit" -> on.committed();
          case "claim" ->
              on.claim(
                  given.get(0),
                  Integer.parseInt(given.get(1)),
                  given.get(2),
                  Duration.ofMillis(Long.parseLong(given.get(3))),
                  Duration.ofMillis(Long.parseLong(given.get(4))));
          case "heartbeat" ->
              on.heartbeat(
                  given.subList(1, given.size()).stream().map(CallText::lease).toList(),
                  Duration.ofMillis(Long.parseLong(given.getFirst())));
          case "commands" -> on.commands(given.getFirst());
          case "report" -> on.report(given.stream().map(CallText::report).toList());
          case "steps" -> on.steps(CallText.lease(given.getFirst()));
          case "publish" -> on.publish(CallText.publication(given.getFirst()));
          case "artifacts" -> on.artifacts(CallText.lease(given.getFirst()));
          case "settle" -> on.settle(given.stream().map(CallText::settlement).toList());
          case "succeeded" -> on.succeeded(CallText.lease(given.getFirst()));
          case "heldBy" -> on.heldBy(given.getFirst());
          case "reapAndExpire" ->
              on.reapAndExpire(Duration.ofMillis(Long.parseLong(given.getFirst())));
          case "promote" -> on.promoted();
          case "recover" -> on.recover(given.getFirst());
          case "cancel" -> on.cancel(JobSpec.id(Integer.parseInt(given.get(0))), given.get(1));
          case "retry" -> on.retry(JobSpec.id(Integer.parseInt(given.getFirst())));
          case "limit" -> on.limited(given.get(0), Integer.parseInt(given.get(1)));
          case "restarted" -> on.startedAgain();
          default -> throw new IllegalArgumentException(call.verb());
        };
    return made.getFirst().answer();
  }

  private static String shown(List<HeartbeatResult> results) {
    return String.join(
        ",",
        results.stream()
            .map(
                each ->
                    CallText.of(each.lease())
                        + (each.ack() == Ack.ACCEPTED ? "" : " lost")
                        + (each.cancelReason() == null ? "" : " cancelled"))
            .sorted()
            .toList());
  }

  private static String acks(List<Ack> acks) {
    return String.join(",", acks.stream().map(Ack::name).toList());
  }

  @Override
  public Enqueued enqueue(JobSpec job) {
    return call(
        "enqueue",
        List.of(job.text()),
        () -> verbs.enqueue(job),
        it -> JobSpec.number(it.id()) + (it.duplicate() ? " duplicate" : ""));
  }

  @Override
  public void begin(JobSpec job) {
    boolean unused = begun(job);
  }

  private boolean begun(JobSpec job) {
    return done("begin", List.of(job.text()), () -> verbs.begin(job));
  }

  @Override
  public void commit() {
    boolean unused = committed();
  }

  private boolean committed() {
    return done("commit", List.of(), verbs::commit);
  }

  @Override
  public Claimed claim(
      String queue, int most, String worker, Duration lease, Duration cancelGrace) {
    return call(
        "claim",
        List.of(queue, String.valueOf(most), worker, millis(lease), millis(cancelGrace)),
        () -> verbs.claim(queue, most, worker, lease, cancelGrace),
        it ->
            String.join(",", it.jobs().stream().map(job -> CallText.of(job.lease())).toList())
                + (it.whenEmpty() ? " when empty" : ""));
  }

  @Override
  public List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease) {
    List<String> arguments = new ArrayList<>(List.of(millis(lease)));
    leases.forEach(each -> arguments.add(CallText.of(each)));
    return call("heartbeat", arguments, () -> verbs.heartbeat(leases, lease), RecordedVerbs::shown);
  }

  @Override
  public List<HeartbeatResult> commands(String worker) {
    return call("commands", List.of(worker), () -> verbs.commands(worker), RecordedVerbs::shown);
  }

  @Override
  public List<Ack> report(List<Report> reports) {
    return call(
        "report",
        reports.stream().map(CallText::of).toList(),
        () -> verbs.report(reports),
        RecordedVerbs::acks);
  }

  @Override
  public List<StepStatus> steps(Lease lease) {
    return call(
        "steps",
        List.of(CallText.of(lease)),
        () -> verbs.steps(lease),
        it ->
            String.join(
                ",",
                it.stream()
                    .map(step -> step.id() + " " + step.state() + " " + step.attempt())
                    .toList()));
  }

  @Override
  public Ack publish(Publication publication) {
    return call(
        "publish", List.of(CallText.of(publication)), () -> verbs.publish(publication), Ack::name);
  }

  @Override
  public List<PublishedArtifact> artifacts(Lease lease) {
    return call(
        "artifacts",
        List.of(CallText.of(lease)),
        () -> verbs.artifacts(lease),
        it ->
            String.join(
                ",",
                it.stream()
                    .map(each -> each.artifact().name() + " of " + each.attempt())
                    .sorted()
                    .toList()));
  }

  @Override
  public List<Ack> settle(List<Settlement> settlements) {
    return call(
        "settle",
        settlements.stream().map(CallText::of).toList(),
        () -> verbs.settle(settlements),
        RecordedVerbs::acks);
  }

  @Override
  public boolean succeeded(Lease lease) {
    return call(
        "succeeded", List.of(CallText.of(lease)), () -> verbs.succeeded(lease), String::valueOf);
  }

  @Override
  public List<Lease> heldBy(String worker) {
    return call(
        "heldBy",
        List.of(worker),
        () -> verbs.heldBy(worker),
        it -> String.join(",", it.stream().map(CallText::of).sorted().toList()));
  }

  @Override
  public void promote() {
    boolean unused = promoted();
  }

  private boolean promoted() {
    return done("promote", List.of(), verbs::promote);
  }

  @Override
  public Map<String, Integer> reapAndExpire(Duration reapGrace) {
    return call(
        "reapAndExpire",
        List.of(millis(reapGrace)),
        () -> verbs.reapAndExpire(reapGrace),
        it -> new TreeMap<>(it).toString());
  }

  @Override
  public int recover(String workerPrefix) {
    return call(
        "recover", List.of(workerPrefix), () -> verbs.recover(workerPrefix), String::valueOf);
  }

  @Override
  public List<Cancellation> cancel(JobId job, String reason) {
    return call(
        "cancel",
        List.of(String.valueOf(JobSpec.number(job)), reason),
        () -> verbs.cancel(job, reason),
        it ->
            String.join(
                ",",
                it.stream().map(each -> each.previousState() + " " + each.outcome()).toList()));
  }

  @Override
  public Set<JobId> retry(JobId job) {
    return call(
        "retry",
        List.of(String.valueOf(JobSpec.number(job))),
        () -> verbs.retry(job),
        it -> String.valueOf(it.size()));
  }

  @Override
  public void limit(String queue, int maxRunning) {
    boolean unused = limited(queue, maxRunning);
  }

  private boolean limited(String queue, int maxRunning) {
    return done(
        "limit", List.of(queue, String.valueOf(maxRunning)), () -> verbs.limit(queue, maxRunning));
  }

  @Override
  public void restarted() {
    boolean unused = startedAgain();
  }

  private boolean startedAgain() {
    return done("restarted", List.of(), verbs::restarted);
  }

  @Override
  public List<String> rows() {
    return verbs.rows();
  }
}
