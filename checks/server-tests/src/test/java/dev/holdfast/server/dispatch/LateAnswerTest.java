package dev.holdfast.server.dispatch;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.queue.JobStore;
import dev.holdfast.server.auth.Keyring;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.worker.Envelopes;
import dev.holdfast.server.worker.RemoteAttempts;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.source.Metrics;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Pushes that are answered when nobody waits for the answer any more. */
public class LateAnswerTest extends PushFixture {
  private final Set<String> verbs = ConcurrentHashMap.newKeySet();

  LateAnswerTest(TestDatabase db) {
    super(db);
  }

  private PushedTask task(JobStore store, DispatchClient client, LeasedJob job) {
    Keyring keyring = new Keyring(store.admin());
    Envelopes envelopes =
        new Envelopes(
            store.queries(),
            new TaskTokens(keyring, ServerOptions.DEFAULT.tokens(), Clock.systemUTC()),
            Timings.DEFAULT,
            Clock.systemUTC(),
            () -> server.url());
    PushedTask.Services services =
        new PushedTask.Services(
            store.jobs(),
            new RemoteAttempts(new Metrics(), store.queries()::runTimes),
            queue -> 0,
            envelopes,
            client,
            new DispatchStatusWriter(store.admin(), System::nanoTime),
            Duration.ofMillis(100),
            SOON,
            () -> false);
    return new PushedTask(
        services,
        new Dispatch(
            QUEUE,
            URI.create("http://127.0.0.1:" + worker.getAddress().getPort() + "/tasks"),
            SECRET,
            1),
        new CircuitBreaker(System::nanoTime),
        new WorkerCapacity(System::nanoTime),
        job);
  }

  @Test
  void a_started_task_is_kept_however_late_the_push_is_answered() throws InterruptedException {
    CountDownLatch answer = new CountDownLatch(1);
    before =
        task -> {
          waitFor(answer);
          return true;
        };
    JobId id = enqueued();
    JobStore.Options observed =
        JobStore.Options.DEFAULT.observer((verb, took, error) -> verbs.add(verb));
    try (Holdfast other = Holdfast.on(db.dataSource(), new JacksonCodec(), observed);
        DispatchClient client = new DispatchClient(SOON)) {
      JobStore store = other.store();
      LeasedJob job =
          store
              .jobs()
              .claim(new ClaimRequest(QUEUE, 1, "push:work", SOON).cancelGrace(SOON).remote())
              .jobs()
              .getFirst();
      // As the call 'started' does, which comes while the push is under way.
      store.jobs().heartbeat(List.of(job.lease()), SOON);
      Thread pushing = Thread.ofVirtual().start(task(store, client, job)::run);
      // The time for an answer is over when it is asked whether the task has started.
      await().atMost(SOON).until(() -> verbs.contains("delivery"));
      answer.countDown();
      // The request was kept open meanwhile: its response arrives.
      JsonNode task = pushed();
      assertThat(pushing.join(SOON)).isTrue();
      assertThat(asked).hasValue(1);
      callback(task, "completed", succeeded(task)).ok();
      assertThat(state(id)).isEqualTo("SUCCEEDED");
      assertThat(holdfast.queries().attempts(id)).hasSize(1);
    }
  }
}
