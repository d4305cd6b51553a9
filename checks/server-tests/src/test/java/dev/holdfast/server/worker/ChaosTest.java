package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.server.PlainHttp;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.Extent;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Workers whose callbacks are dropped, sent twice, late and in any order. What each does is drawn
 * from a seed, its task and its attempt; {@code -Dholdfast.chaos.seed=N} draws it again.
 */
public class ChaosTest extends ServerTest {
  private static final int TASKS =
      Integer.getInteger("holdfast.chaos.tasks", Extent.of(400, 10_000));
  private static final int AT_ONCE = 32;
  private static final int MOST_ROUNDS = 20;

  /** Many, because a suspect job is leased only to a worker that holds no other. */
  private int names;

  private final PlainHttp http;
  private final long seed = Long.getLong("holdfast.chaos.seed", System.nanoTime());
  private final Map<JobId, Integer> numbers = new ConcurrentHashMap<>();

  /** The response to each attempt whose completion was accepted. */
  private final Map<JobId, Map<Integer, Accepted>> accepted = new ConcurrentHashMap<>();

  private final ConcurrentLinkedQueue<Message> late = new ConcurrentLinkedQueue<>();

  private record Accepted(String outcome, String finalState, JsonNode output) {}

  private record Message(JsonNode task, String callback, ObjectNode body) {}

  ChaosTest(TestDatabase db) {
    super(db);
    http = new PlainHttp(server.url());
  }

  @AfterEach
  void hangUp() {
    http.close();
  }

  @Override
  public UnaryOperator<ServerOptions> options() {
    return options -> options.requestsPerSecond(0);
  }

  @Override
  public RetryDefaults retries() {
    return RetryDefaults.of(new RetryDefaults.Retries(null, RetryPolicy.NONE));
  }

  @Test
  void every_task_ends_once_in_a_state_that_its_accepted_callbacks_explain() throws Exception {
    List<Job> jobs = new ArrayList<>();
    for (int i = 0; i < TASKS; i++) {
      Job job = Job.of("chaos").queue(QUEUE);
      numbers.put(job.id(), i);
      jobs.add(job);
    }
    holdfast.enqueue(jobs);
    try (ExecutorService workers = Executors.newFixedThreadPool(AT_ONCE)) {
      int rounds = 0;
      while (unfinished() > 0) {
        assertThat(rounds++).as("rounds, seed %d", seed).isLessThan(MOST_ROUNDS);
        work(workers);
        letTimePass();
      }
      // Callbacks that were in flight when all tasks had ended.
      sendLate(workers);
    }
    for (JobId job : numbers.keySet()) {
      explain(job);
    }
  }

  private long unfinished() {
    return db.count("SELECT count(*) FROM holdfast.job WHERE finished_at IS NULL");
  }

  /** All that can be leased is worked on; what is sent late meets the attempts after it. */
  private void work(ExecutorService workers) throws Exception {
    List<Future<?>> running = new ArrayList<>();
    List<JsonNode> tasks;
    do {
      tasks = new ArrayList<>();
      PlainHttp.Reply leased =
          http.post(
              "/v1/queues/" + QUEUE + "/lease",
              Map.of("workerId", "chaos-" + names++, "max", 100),
              null);
      assertThat(leased.status()).as(() -> leased.body().toString()).isEqualTo(200);
      leased.body().get("tasks").forEach(tasks::add);
      for (JsonNode task : tasks) {
        running.add(workers.submit(() -> attempt(task)));
      }
    } while (!tasks.isEmpty());
    sendLate(workers);
    for (Future<?> each : running) {
      each.get();
    }
  }

  private void sendLate(ExecutorService workers) throws Exception {
    List<Future<?>> sending = new ArrayList<>();
    Message message;
    while ((message = late.poll()) != null) {
      Message each = message;
      sending.add(workers.submit(() -> send(each)));
    }
    for (Future<?> each : sending) {
      each.get();
    }
  }

  private void letTimePass() {
    db.expireLeases();
    while (holdfast.store().maintenance().reap(Duration.ZERO).requeued().size() > 0) {
      // until none is left
    }
    holdfast.store().maintenance().promote();
  }

  private void attempt(JsonNode task) {
    JobId job = JobId.parse(task.get("taskId").asText());
    int attempt = task.get("attempt").asInt();
    Random random = new Random(seed * 31 + numbers.getOrDefault(job, 0) * 1_000L + attempt);
    List<Message> messages = new ArrayList<>();
    messages.add(new Message(task, "started", body(attempt)));
    for (int i = random.nextInt(3); i > 0; i--) {
      messages.add(
          new Message(task, "heartbeat", body(attempt).put("progressPct", random.nextInt(101))));
    }
    messages.add(new Message(task, "completed", completion(attempt, random)));
    if (random.nextInt(10) == 0) {
      // A worker that changes its mind: at most one of the two may count.
      messages.add(new Message(task, "completed", completion(attempt, random)));
    }
    List<Message> sent = new ArrayList<>();
    for (Message message : messages) {
      switch (random.nextInt(8)) {
        case 0 -> {} // lost
        case 1 -> Collections.addAll(sent, message, message);
        case 2 -> late.add(message);
        case 3 -> {
          sent.add(message);
          late.add(message);
        }
        default -> sent.add(message);
      }
    }
    if (random.nextInt(4) == 0) {
      Collections.shuffle(sent, random);
    }
    sent.forEach(this::send);
  }

  private static ObjectNode body(int attempt) {
    return Wire.object().put("attempt", attempt).put("workerId", "chaos");
  }

  private static ObjectNode completion(int attempt, Random random) {
    ObjectNode body = body(attempt);
    switch (random.nextInt(5)) {
      case 0 -> {
        body.put("outcome", "FAILED");
        body.putObject("error")
            .put("category", "USER_CODE")
            .put("message", "drawn " + random.nextInt());
      }
      case 1 -> {
        body.put("outcome", "FAILED");
        body.putObject("error").put("category", "DATA_QUALITY").put("message", "bad rows");
      }
      case 2 -> body.put("outcome", "CANCELLED").put("cancelledDuringPhase", "chaos");
      default -> {
        body.put("outcome", "SUCCEEDED");
        body.putObject("output").put("attempt", attempt).put("drawn", random.nextInt());
      }
    }
    return body;
  }

  private void send(Message message) {
    PlainHttp.Reply reply =
        http.post(
            "/v1/tasks/" + message.task().get("taskId").asText() + "/" + message.callback(),
            message.body(),
            message.task().get("taskToken").asText());
    if (reply.status() == 200) {
      if (message.callback().equals("completed")) {
        accept(message, reply.body());
      }
    } else {
      assertThat(reply.status()).as(() -> "seed " + seed + " " + reply.body()).isIn(409, 410);
      assertThat(reply.body().get("error").asText())
          .isIn("task_already_terminal", "attempt_mismatch", "task_expired");
    }
  }

  private void accept(Message message, JsonNode answer) {
    JobId job = JobId.parse(message.task().get("taskId").asText());
    Accepted now =
        new Accepted(
            message.body().get("outcome").asText(),
            answer.get("finalState").asText(),
            message.body().path("output"));
    Accepted before =
        accepted
            .computeIfAbsent(job, id -> new ConcurrentHashMap<>())
            .putIfAbsent(message.body().get("attempt").asInt(), now);
    // The same again is answered the same; nothing else is accepted for that attempt.
    assertThat(before == null ? now : before).as("seed %d, task %s", seed, job).isEqualTo(now);
  }

  private void explain(JobId id) {
    JobStatus job = holdfast.find(id).orElseThrow();
    Map<Integer, Accepted> told = accepted.getOrDefault(id, Map.of());
    String what = "seed %d, task %s: %s, told %s".formatted(seed, id, job.state(), told);
    Set<Integer> ended = new HashSet<>();
    for (Attempt attempt : holdfast.queries().attempts(id)) {
      assertThat(ended.add(attempt.number())).as(what).isTrue();
      Accepted said = told.get(attempt.number());
      if (said == null) {
        // Of some not even a heartbeat arrived: these do not count as crashes, up to a limit.
        assertThat(attempt.outcome())
            .as(what)
            .isIn(AttemptOutcome.CRASHED, AttemptOutcome.RELEASED);
      } else {
        assertThat(attempt.outcome()).as(what).isEqualTo(AttemptOutcome.valueOf(said.outcome()));
      }
    }
    assertThat(ended).as(what).hasSize(job.attempt()).containsAll(told.keySet());
    Accepted last = told.get(job.attempt());
    if (last == null) {
      assertThat(job.state()).as(what).isEqualTo(JobState.FAILED);
      assertThat(String.valueOf(job.failure())).as(what).contains("TOXIC_JOB");
    } else {
      assertThat(job.state().name()).as(what).isEqualTo(last.finalState());
      if (job.state() == JobState.SUCCEEDED) {
        assertThat(Wire.tree(job.result())).as(what).isEqualTo(last.output());
      }
    }
    told.forEach(
        (attempt, said) -> {
          if (attempt < job.attempt()) {
            assertThat(said.finalState()).as(what).isEqualTo("RETRYING");
          }
        });
  }
}
