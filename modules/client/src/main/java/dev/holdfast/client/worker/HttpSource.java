package dev.holdfast.client.worker;

import static dev.holdfast.client.http.ServerAddress.encoded;

import dev.holdfast.contract.ConnectFailure;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.lease.Batch;
import dev.holdfast.contract.lease.Envelope;
import dev.holdfast.contract.lease.HeldLease;
import dev.holdfast.contract.lease.Holders;
import dev.holdfast.contract.lease.LeaseChildren;
import dev.holdfast.contract.lease.LeaseHeartbeat;
import dev.holdfast.contract.lease.LeasePublish;
import dev.holdfast.contract.lease.LeaseReport;
import dev.holdfast.contract.lease.LeaseRequest;
import dev.holdfast.contract.lease.LeaseSettle;
import dev.holdfast.contract.lease.LeaseSuspend;
import dev.holdfast.contract.lease.QueueDepth;
import dev.holdfast.contract.task.TaskSteps;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
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
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Subscription;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Jobs from a server, for workers without access to the database.
 *
 * <p>Only {@link #check} is repeated here. Every other call whose answer was lost fails, and the
 * worker decides when to make it again.
 */
public final class HttpSource implements JobSource, AutoCloseable {
  private static final Duration HEARTBEAT_TIMEOUT = Duration.ofSeconds(15);

  private static final Duration START_TIMEOUT = Duration.ofSeconds(15);
  private static final Duration START_PAUSE = Duration.ofMillis(250);
  private static final Duration REFUSED_TIMEOUT = Duration.ofSeconds(5);

  private final WorkerCalls server;
  private final Duration startTimeout;
  private final Duration refusedTimeout;
  private final Holders holders = new Holders();

  private HttpSource(WorkerCalls server, Duration startTimeout, Duration refusedTimeout) {
    this.server = server;
    this.startTimeout = startTimeout;
    this.refusedTimeout = refusedTimeout;
  }

  /**
   * @param apiKey of role worker; null for a server on this machine that has no keys yet
   */
  public static HttpSource to(URI server, @Nullable String apiKey) {
    return to(server, apiKey, START_TIMEOUT, REFUSED_TIMEOUT);
  }

  /**
   * @param startTimeout how long a worker that starts waits for the server
   * @param refusedTimeout the same where the connection is refused
   */
  static HttpSource to(
      URI server, @Nullable String apiKey, Duration startTimeout, Duration refusedTimeout) {
    return new HttpSource(new WorkerCalls(server, apiKey), startTimeout, refusedTimeout);
  }

  /**
   * Finds a wrong address or key before any job runs. A server that does not answer is asked again
   * for a while, for a shorter time if the connection is refused, and once only if the host name
   * does not exist: then the address is most likely wrong.
   */
  @Override
  public void check(List<String> queues, boolean listens) {
    long began = System.nanoTime();
    while (true) {
      try {
        var unused = depth(queues, 1);
        return;
      } catch (SourceUnavailableException unavailable) {
        if (System.nanoTime() - began > timeout(unavailable).toNanos()
            || Thread.currentThread().isInterrupted()) {
          throw unavailable;
        }
        LockSupport.parkNanos(START_PAUSE.toNanos());
      }
    }
  }

  private Duration timeout(SourceUnavailableException unavailable) {
    return switch (ConnectFailure.of(unavailable)) {
      case NO_SUCH_NAME -> Duration.ZERO;
      case REFUSED -> refusedTimeout;
      case OTHER -> startTimeout;
    };
  }

  @Override
  public int mostAtOnce() {
    return LeaseRequest.MOST;
  }

  @Override
  public Claimed claim(
      String queue, int most, String worker, Timings timings, List<KindVersion> versions) {
    LeaseRequest request =
        LeaseRequest.of(worker, Math.min(most, LeaseRequest.MOST), timings, versions);
    LeaseRequest.Answer answer =
        server.post(
            "/v1/queues/" + encoded(queue) + "/lease",
            request,
            Refusal.BAD_LIMIT,
            LeaseRequest.Answer.class);
    List<LeasedJob> jobs = answer.tasks().stream().map(Envelope::job).toList();
    holders.took(worker, jobs.stream().map(LeasedJob::lease).toList());
    return new Claimed(
        jobs, answer.nextDueInMs() == null ? null : Duration.ofMillis(answer.nextDueInMs()));
  }

  @Override
  public List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease) {
    List<HeartbeatResult> results = new ArrayList<>();
    List<HeldLease> held = new ArrayList<>();
    for (Lease each : leases) {
      holders
          .of(each)
          .ifPresentOrElse(
              worker -> held.add(HeldLease.of(each, worker)),
              () -> results.add(new HeartbeatResult(each, Ack.LEASE_LOST, null)));
    }
    for (int from = 0; from < held.size(); from += LeaseHeartbeat.MOST) {
      List<HeldLease> some = held.subList(from, Math.min(held.size(), from + LeaseHeartbeat.MOST));
      LeaseHeartbeat beat = new LeaseHeartbeat(lease.toMillis(), some);
      results.addAll(
          results(
              server.post(
                  "/v1/leases/heartbeat",
                  Wire.write(beat),
                  HEARTBEAT_TIMEOUT,
                  Refusal.BAD_LIMIT,
                  LeaseHeartbeat.Answer.class)));
    }
    return results;
  }

  @Override
  public List<HeartbeatResult> commands(String worker) {
    return results(
        server.get(
            "/v1/leases/commands?workerId=" + encoded(worker),
            HEARTBEAT_TIMEOUT,
            LeaseHeartbeat.Answer.class));
  }

  private static List<HeartbeatResult> results(LeaseHeartbeat.Answer answer) {
    return answer.leases().stream().map(LeaseHeartbeat.Status::result).toList();
  }

  @Override
  public List<Ack> report(List<Report> reports) {
    Map<Lease, String> known = holders.of(reports.stream().map(Report::lease).toList());
    List<Ack> acks = new ArrayList<>();
    List<LeaseReport.ReportEntry> said = new ArrayList<>();
    for (Report report : reports) {
      String worker = known.get(report.lease());
      if (worker == null) {
        continue;
      }
      LeaseReport.ReportEntry one = LeaseReport.ReportEntry.of(report, worker);
      if (report instanceof Report.Step step && step.patch() != null) {
        acks.addAll(tell(said));
        said.clear();
        acks.add(tell(one, step.patch()));
      } else {
        said.add(one);
      }
    }
    acks.addAll(tell(said));
    return inOrder(reports, Report::lease, known, acks);
  }

  /** Leases that were not claimed through this source are answered as lost. */
  private static <T> List<Ack> inOrder(
      List<T> all, Function<T, Lease> lease, Map<Lease, String> known, List<Ack> acks) {
    Iterator<Ack> next = acks.iterator();
    return all.stream()
        .map(each -> known.containsKey(lease.apply(each)) ? next.next() : Ack.LEASE_LOST)
        .toList();
  }

  private List<Ack> tell(List<LeaseReport.ReportEntry> said) {
    List<Ack> acks = new ArrayList<>();
    for (Batch batch : Batch.of("reports", said, LeaseReport.MOST)) {
      acks.addAll(
          each(
              batch.size(),
              server
                  .post(
                      "/v1/leases/report",
                      batch.json(),
                      Refusal.EVENT_NOT_JSON,
                      LeaseReport.Answer.class)
                  .acks()));
    }
    return acks;
  }

  /**
   * The report of a step and its patch are one request and one transaction: no step is done without
   * its patch, and no patch is stored without its step. The bytes of the patch follow the JSON;
   * inside it, in base64, they would be a third larger.
   */
  private Ack tell(LeaseReport.ReportEntry step, Patch patch) {
    byte[] bytes = patch.bytes();
    LeaseReport.Answer answer =
        server.post(
            "/v1/leases/step?patchBytes=" + bytes.length,
            step,
            bytes,
            Refusal.RESULT_NOT_JSON,
            LeaseReport.Answer.class);
    return each(1, answer.acks()).getFirst();
  }

  @Override
  public List<StepStatus> steps(Lease lease) {
    return held(lease)
        .map(held -> server.get("/v1/leases/steps?" + held, TaskSteps.class).steps())
        .orElse(List.of())
        .stream()
        .toList();
  }

  /** The lease as query parameters, if it was claimed through this source. */
  private Optional<String> held(Lease lease) {
    return holders
        .of(lease)
        .map(
            worker ->
                "taskId=%s&attempt=%d&workerId=%s"
                    .formatted(lease.job(), lease.attempt(), encoded(worker)));
  }

  @Override
  public Optional<Patch> patch(Lease lease, String step) {
    return held(lease)
        .flatMap(
            held ->
                server.bytes("/v1/leases/patch?" + held + "&stepId=" + encoded(step), "no_patch"))
        .map(Patch::of);
  }

  @Override
  public Ack publish(Publication publication) {
    return holders
        .of(publication.lease())
        .map(
            worker ->
                server
                    .post(
                        "/v1/leases/publish",
                        LeasePublish.of(publication, worker),
                        Refusal.RESULT_NOT_JSON,
                        LeasePublish.Answer.class)
                    .ack())
        .orElse(Ack.LEASE_LOST);
  }

  @Override
  public List<PublishedArtifact> artifacts(Lease lease) {
    return held(lease)
        .map(
            held ->
                server
                    .get("/v1/leases/artifacts?" + held, LeasePublish.Published.class)
                    .artifacts())
        .orElse(List.of());
  }

  @Override
  public List<Ack> settle(List<Settlement> settlements) {
    Map<Lease, String> known = holders.of(settlements.stream().map(Settlement::lease).toList());
    List<LeaseSettle.Ending> endings = new ArrayList<>();
    for (Settlement settlement : settlements) {
      String worker = known.get(settlement.lease());
      if (worker != null) {
        endings.add(LeaseSettle.Ending.of(settlement, worker));
      }
    }
    List<Ack> acks = end(endings);
    holders.forget(known.keySet());
    return inOrder(settlements, Settlement::lease, known, acks);
  }

  private List<Ack> end(List<LeaseSettle.Ending> endings) {
    List<Ack> acks = new ArrayList<>();
    for (Batch batch : Batch.of("settlements", endings, LeaseSettle.MOST)) {
      acks.addAll(
          each(
              batch.size(),
              server
                  .post(
                      "/v1/leases/settle",
                      batch.json(),
                      Refusal.RESULT_NOT_JSON,
                      LeaseSettle.Answer.class)
                  .acks()));
    }
    return acks;
  }

  @Override
  public WaitAnswer suspend(Suspension suspension) {
    Lease lease = suspension.lease();
    WaitAnswer answer =
        holders
            .of(lease)
            .map(
                worker ->
                    server
                        .post(
                            "/v1/leases/suspend",
                            LeaseSuspend.of(suspension, worker),
                            Refusal.BAD_LIMIT,
                            LeaseSuspend.Answer.class)
                        .answer())
            .orElse(WaitAnswer.LEASE_LOST);
    if (answer instanceof WaitAnswer.Suspended) {
      holders.forget(List.of(lease));
    }
    return answer;
  }

  @Override
  public Ack startChildren(Children children) {
    return holders
        .of(children.lease())
        .map(
            worker ->
                server
                    .post(
                        "/v1/leases/children",
                        LeaseChildren.of(children, worker),
                        Refusal.PAYLOAD_NOT_JSON,
                        LeaseChildren.Answer.class)
                    .ack())
        .orElse(Ack.LEASE_LOST);
  }

  @Override
  public List<ChildEnd> children(Lease lease, List<JobId> jobs) {
    return holders
        .of(lease)
        .map(
            worker ->
                server
                    .post(
                        "/v1/leases/children/ends",
                        new LeaseChildren.Asked(lease.job(), lease.attempt(), worker, jobs),
                        Refusal.BAD_ID,
                        LeaseChildren.Ends.class)
                    .jobs())
        .orElse(List.of());
  }

  /** With fewer answers than requests, it is not known which answer belongs to which. */
  private static List<Ack> each(int asked, List<Ack> acks) {
    if (acks.size() != asked) {
      throw new IllegalStateException("the server answered %d of %d".formatted(acks.size(), asked));
    }
    return acks;
  }

  @Override
  public boolean succeeded(Lease lease) {
    return holders
        .of(lease)
        .map(
            worker ->
                server
                    .post(
                        "/v1/leases/succeeded",
                        HeldLease.of(lease, worker),
                        Refusal.BAD_ID,
                        HeldLease.Succeeded.class)
                    .succeeded())
        .orElse(false);
  }

  @Override
  public List<Lease> heldBy(String worker) {
    HeldLease.Answer held =
        server.get("/v1/leases?workerId=" + encoded(worker), HeldLease.Answer.class);
    List<Lease> leases = held.leases().stream().map(HeldLease::lease).toList();
    holders.took(worker, leases);
    return leases;
  }

  @Override
  public long depth(List<String> queues, long most) {
    return server
        .post(
            "/v1/queues/depth",
            QueueDepth.of(queues, most),
            Refusal.BAD_NAME,
            QueueDepth.Answer.class)
        .depth();
  }

  @Override
  public Subscription listen(Collection<String> queues, Consumer<String> wake) {
    return new HttpSubscription(server, List.copyOf(queues), wake);
  }

  /** Aborts open calls. Workers are closed before, since they still report and settle. */
  @Override
  public void close() {
    server.close();
  }

  @Override
  public String toString() {
    return server.toString();
  }
}
