package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.job.Job;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code queues}, {@code stats} and {@code health}. */
class QueuesCommandTest extends OperatorCommandFixture {
  @Test
  void queues_are_paused_resumed_limited_and_listed() throws IOException {
    run("enqueue", "echo", "-q", "mail");
    assertThat(run("queues", "pause", "mail")).isZero();
    assertThat(run("queues", "limit", "mail", "3")).isZero();
    assertThat(run("queues", "list", "--json")).isZero();
    assertThat(json().get(0).get("name").asText()).isEqualTo("mail");
    assertThat(json().get(0).get("due").asInt()).isEqualTo(1);
    assertThat(json().get(0).get("maxRunning").asInt()).isEqualTo(3);
    assertThat(json().get(0).get("pausedAt").isNull()).isFalse();
    assertThat(run("queues", "resume", "mail")).isZero();
    assertThat(run("queues", "list")).isZero();
    assertThat(said()).contains("open");
    assertThat(run("queues", "rate", "mail", "20", "--per", "1m")).isZero();
    assertThat(run("queues", "list", "--json")).isZero();
    assertThat(json().get(0).get("rateLimit").get("starts").asInt()).isEqualTo(20);
    assertThat(json().get(0).get("rateLimit").get("periodMs").asInt()).isEqualTo(60_000);
    assertThat(run("queues", "rate", "mail")).isZero();
    assertThat(run("queues", "limit", "mail", "0")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("to stop a queue, pause it");
    assertThat(run("queues", "rate", "mail", "0")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("to stop a queue, pause it");
    assertThat(run("queues", "pause", "no such queue")).isEqualTo(ExitCode.REFUSED);
  }

  @Test
  void a_pause_of_all_workers_is_shown_on_each_queue() throws IOException {
    run("enqueue", "echo", "-q", "mail");
    run("enqueue", "echo", "-q", "paused");
    run("queues", "pause", "paused");
    holdfast.admin().pauseAllWorkers();
    assertThat(run("queues", "list")).isZero();
    assertThat(said().lines().filter(line -> line.startsWith("mail")))
        .singleElement()
        .asString()
        .endsWith("all workers paused");
    assertThat(said().lines().filter(line -> line.startsWith("paused")))
        .singleElement()
        .asString()
        .endsWith(" paused by " + System.getProperty("user.name"))
        .doesNotContain("workers");
    assertThat(run("queues", "show", "mail")).isZero();
    assertThat(said()).contains("0 running, all workers paused");
    assertThat(run("queues", "list", "--json")).isZero();
    assertThat(json().get(0).get("pausedAt").isNull()).isTrue();
    assertThat(json().get(0).get("workersPausedAt").isNull()).isFalse();
  }

  @Test
  void stats_count_by_state_kind_and_queue() throws IOException {
    holdfast.enqueue(List.of(Job.of("echo"), Job.of("echo"), Job.of("fail").maxAttempts(1)));
    runExamples();
    assertThat(run("stats", "--json")).isZero();
    assertThat(json().get("byState").get("SUCCEEDED").asInt()).isEqualTo(2);
    assertThat(json().get("byState").get("FAILED").asInt()).isEqualTo(1);
    assertThat(run("stats")).isZero();
    assertThat(said()).contains("echo").contains("SUCCEEDED");
  }

  @Test
  void health_reports_problems_with_their_remedies() throws IOException {
    assertThat(run("health")).isZero();
    assertThat(said()).contains("PostgreSQL").contains("all is well");
    run("enqueue", "echo", "-q", "mail");
    run("queues", "pause", "mail");
    assertThat(run("health")).isEqualTo(ExitCode.NOT_HEALTHY);
    assertThat(said())
        .contains("queue 'mail' is paused and 1 job waits in it")
        .contains("'holdfast queues resume mail'");
    assertThat(run("health", "--json")).isEqualTo(ExitCode.NOT_HEALTHY);
    assertThat(json().get("healthy").asBoolean()).isFalse();
    assertThat(json().get("problems").get(0).get("hint").asText()).contains("mail");
  }

  @Test
  void who_paused_a_queue_and_why_is_listed() throws Exception {
    assertThat(run("queues", "pause", "new", "--new", "--reason", "deploying")).isZero();
    String by = " by " + System.getProperty("user.name") + " (deploying)";
    run("queues", "list");
    assertThat(said()).contains("paused" + by);
    run("queues", "show", "new");
    assertThat(said()).contains("paused" + by);
    run("queues", "list", "--json");
    assertThat(json().get(0).at("/pause/reason").asText()).isEqualTo("deploying");
    run("queues", "resume", "new");
    run("queues", "list", "--json");
    assertThat(json().toString()).doesNotContain("deploying");
    assertThat(run("workers", "pause", "--all", "--reason", "deploying")).isZero();
    run("workers", "list");
    assertThat(said()).contains(by);
  }
}
