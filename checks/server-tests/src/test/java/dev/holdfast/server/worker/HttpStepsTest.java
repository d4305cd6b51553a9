package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.client.worker.HttpSource;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JobStore;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Steps over HTTP are reported and read as with a direct database connection. */
public class HttpStepsTest extends ServerTest {
  private final JobStore store;
  private HttpSource source;
  private Lease lease = new Lease(JobId.next(), 1);

  HttpStepsTest(TestDatabase db) {
    super(db);
    this.store = holdfast.store();
    this.source = HttpSource.to(server.url(), null);
  }

  @BeforeEach
  void running() {
    lease = new Lease(enqueued(), 1);
    source.claim(QUEUE, 1, "w1", Timings.DEFAULT.withLease(Duration.ofMinutes(5)), List.of());
  }

  @AfterEach
  void close() {
    source.close();
  }

  private Report.Step step(int index, StepState state, @Nullable Patch patch) {
    return new Report.Step(
        lease,
        "step/" + index,
        index,
        state,
        1,
        false,
        state == StepState.DONE ? new Json("{\"price\": 1.10,\n \"made\": " + index + "}") : null,
        patch,
        null,
        null,
        List.of(
            new Report.Entry(
                state == StepState.DONE ? EventType.STEP_FINISHED : EventType.STEP_STARTED,
                new Json("{\"stepId\": \"step/" + index + "\"}"))));
  }

  private static Patch patch(int bytes) {
    byte[] random = new byte[bytes];
    new Random(7).nextBytes(random);
    return Patch.of(random);
  }

  private List<String> events() {
    return store.queries().timeline(lease.job()).stream().map(JobEvent::type).toList();
  }

  @Test
  void steps_reported_over_http_are_read_the_same_over_http_and_jdbc() {
    Patch patch = patch(1_000);
    List<Ack> acks =
        source.report(
            List.of(
                step(1, StepState.RUNNING, null),
                step(1, StepState.DONE, patch),
                step(2, StepState.DONE, Patch.of(new byte[0])),
                new Report.Progress(lease, 50, "half"),
                step(3, StepState.DONE, null),
                step(4, StepState.RUNNING, null)));
    assertThat(acks).hasSize(6).containsOnly(Ack.ACCEPTED);
    List<StepStatus> steps = source.steps(lease);
    assertThat(steps)
        .usingRecursiveFieldByFieldElementComparatorIgnoringFields("checkpoint")
        .isEqualTo(store.queries().steps(lease.job()))
        .hasSize(4);
    assertThat(steps.getFirst().checkpoint()).isEqualTo(new Json("{\"made\":1,\"price\":1.10}"));
    assertThat(steps.getLast().checkpoint()).isNull();
    assertThat(steps).extracting(StepStatus::patchBytes).containsExactly(1_000, 0, null, null);
    assertThat(source.patch(lease, "step/1")).contains(patch);
    assertThat(source.patch(lease, "step/2")).contains(Patch.of(new byte[0]));
    assertThat(source.patch(lease, "step/3")).isEmpty();
    assertThat(source.patch(lease, "step/9")).isEmpty();
    assertThat(events())
        .endsWith(
            EventType.STEP_STARTED,
            EventType.STEP_FINISHED,
            EventType.STEP_FINISHED,
            EventType.PROGRESS,
            EventType.STEP_FINISHED,
            EventType.STEP_STARTED);
  }

  @Test
  void a_short_step_over_http_has_its_start_and_its_end_in_the_timeline() {
    Report.Step brief =
        Report.Step.done(lease, "brief", 1, 1, new Json("7"), Duration.ofMillis(250));
    assertThat(source.report(List.of(brief, step(2, StepState.RUNNING, null))))
        .containsOnly(Ack.ACCEPTED);
    assertThat(events())
        .endsWith(EventType.STEP_STARTED, EventType.STEP_FINISHED, EventType.STEP_STARTED);
    StepStatus step = source.steps(lease).getFirst();
    assertThat(Duration.between(step.startedAt(), step.finishedAt()))
        .isBetween(Duration.ofMillis(249), Duration.ofMillis(251));
  }

  @Test
  void all_fields_of_a_step_report_arrive() {
    source.report(List.of(step(1, StepState.DONE, null), step(2, StepState.DONE, patch(3))));
    store
        .jobs()
        .command(
            lease.job(),
            new JobCommand(CommandAction.RESUME_FROM_STEP, "step/1", "ada", "odd"),
            Tenant.ANY);
    PendingCommand.Recovery asked =
        Objects.requireNonNull(store.queries().pendingCommand(lease.job()).recovery());
    assertThat(source.heartbeat(List.of(lease), Duration.ofMinutes(5)).getFirst().pendingCommand())
        .isEqualTo(new PendingCommand(false, false, asked, null));
    assertThat(source.commands("w1").getFirst().pendingCommand().recovery()).isEqualTo(asked);
    Report.Step again =
        new Report.Step(
            lease,
            "step/1",
            1,
            StepState.RUNNING,
            2,
            true,
            null,
            null,
            1,
            asked.updatedAt(),
            List.of(new Report.Entry(EventType.RECOVERY_ACK, Json.EMPTY)));
    assertThat(source.report(List.of(again))).containsExactly(Ack.ACCEPTED);
    assertThat(store.queries().steps(lease.job()))
        .extracting(StepStatus::state)
        .containsExactly(StepState.RUNNING, StepState.FAILED);
    assertThat(store.queries().steps(lease.job()).getFirst().resets()).isEqualTo(1);
    assertThat(store.queries().pendingCommand(lease.job())).isEqualTo(PendingCommand.NONE);
    assertThat(source.heartbeat(List.of(lease), Duration.ofMinutes(5)).getFirst().pendingCommand())
        .isEqualTo(PendingCommand.NONE);
    assertThat(events()).endsWith(EventType.RECOVERY_ACK);
  }

  @Test
  void a_patch_of_the_largest_allowed_size_is_accepted() {
    Patch largest = patch(Limits.PATCH_BYTES);
    assertThat(source.report(List.of(step(1, StepState.DONE, largest))))
        .containsExactly(Ack.ACCEPTED);
    assertThat(source.patch(lease, "step/1")).contains(largest);
  }

  @Test
  void a_step_report_repeated_after_a_lost_response_counts_once() {
    try (FaultProxy proxy = FaultProxy.beforeHttp(server.url().getPort());
        HttpSource through = HttpSource.to(URI.create("http://127.0.0.1:" + proxy.port()), null)) {
      assertThat(through.heldBy("w1")).containsExactly(lease);
      CountDownLatch lost = proxy.loseNextReplyTo("POST /v1/leases/step");
      Report.Step done = step(1, StepState.DONE, patch(100_000));
      assertThat(catchThrowable(() -> through.report(List.of(done))))
          .isInstanceOf(SourceUnavailableException.class);
      assertThat(lost.getCount()).isZero();
      assertThat(through.report(List.of(done))).containsExactly(Ack.ACCEPTED);
    }
    assertThat(store.queries().steps(lease.job())).hasSize(1).allMatch(StepStatus::isDone);
    assertThat(events()).containsOnlyOnce(EventType.STEP_FINISHED);
  }

  @Test
  void an_attempt_that_lost_its_lease_writes_neither_step_nor_patch() {
    db.expireLeases();
    store.maintenance().reap(Duration.ZERO);
    store.jobs().claim(new ClaimRequest(QUEUE, 1, "w2", Duration.ofMinutes(5)));
    assertThat(
            source.report(
                List.of(step(1, StepState.DONE, patch(10)), step(2, StepState.DONE, null))))
        .containsExactly(Ack.LEASE_LOST, Ack.LEASE_LOST);
    assertThat(source.steps(lease)).isEmpty();
    assertThat(source.patch(lease, "step/1")).isEmpty();
  }

  @Test
  void a_worker_of_another_tenant_neither_reads_nor_writes_steps() {
    source.report(List.of(step(1, StepState.DONE, patch(10))));
    String key = key(Role.WORKER, "other");
    try (HttpSource other = HttpSource.to(server.url(), key)) {
      assertThat(other.heldBy("w1")).isEmpty();
      assertThat(other.steps(lease)).isEmpty();
      assertThat(other.patch(lease, "step/1")).isEmpty();
      assertThat(other.report(List.of(step(2, StepState.DONE, patch(10)))))
          .containsExactly(Ack.LEASE_LOST);
    }
    source.close();
    source = HttpSource.to(server.url(), key(Role.WORKER, null));
    assertThat(source.heldBy("w1")).containsExactly(lease);
    assertThat(source.steps(lease)).hasSize(1);
  }
}
