package dev.holdfast.app.operate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.app.cli.Terminal;
import dev.holdfast.app.demo.ExampleKinds;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A queue whose name is mistyped is not set up, neither in the database nor through a server. */
@ExtendWith(DatabaseExtension.class)
class KnownQueuesTest {
  /** How the command reaches the queues. */
  enum Way {
    DATABASE,
    SERVER
  }

  private TestDatabase database;
  private Holdfast holdfast;
  private HoldfastServer server;

  @BeforeEach
  void open(TestDatabase given) {
    database = given;
    holdfast = Holdfast.on(database.dataSource());
    server = HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0));
  }

  @AfterEach
  void close() {
    server.close();
    holdfast.close();
  }

  private Terminal.Answer run(Way way, String... arguments) {
    return run(way, Map.of(), arguments);
  }

  private Terminal.Answer run(Way way, Map<String, String> more, String... arguments) {
    Map<String, String> environment = new HashMap<>(more);
    if (way == Way.SERVER) {
      environment.put("HOLDFAST_SERVER_URL", server.url().toString());
    } else {
      environment.put("HOLDFAST_DATABASE_URL", database.url());
      environment.put("HOLDFAST_DATABASE_USER", database.user());
      environment.put("HOLDFAST_DATABASE_PASSWORD", database.password());
      environment.put("HOLDFAST_DATABASE_ALLOW_UNSAFE", "1");
    }
    return Terminal.run(environment, List.of(arguments));
  }

  private long settings() {
    return database.count("SELECT count(*) FROM holdfast.queue");
  }

  @ParameterizedTest
  @EnumSource
  void an_unknown_queue_is_not_found_and_near_names_are_suggested(Way way) {
    holdfast.enqueue(Job.of("echo").queue("mail"));
    for (String[] verb :
        List.of(
            new String[] {"pause", "mial"},
            new String[] {"limit", "mial", "3"},
            new String[] {"limit", "mial"},
            new String[] {"rate", "mial", "3"},
            new String[] {"rate", "mial"})) {
      Terminal.Answer answer = run(way, with("queues", verb));
      assertThat(answer.code()).isEqualTo(ExitCode.NOT_FOUND);
      assertThat(answer.out()).isEmpty();
      assertThat(answer.err())
          .containsExactly(
              "holdfast: no queue 'mial' is known: did you mean 'mail'?"
                  + " (--new if it is a new queue)");
    }
    Terminal.Answer resumed = run(way, "queues", "resume", "mial");
    assertThat(resumed.code()).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(resumed.err())
        .containsExactly("holdfast: no queue 'mial' is known: did you mean 'mail'?");
    assertThat(settings()).isZero();
  }

  private static String[] with(String first, String[] more) {
    String[] all = new String[more.length + 1];
    all[0] = first;
    System.arraycopy(more, 0, all, 1, more.length);
    return all;
  }

  @ParameterizedTest
  @EnumSource
  void the_option_new_allows_settings_of_an_unknown_queue(Way way) {
    assertThat(run(way, "queues", "limit", "reports", "1", "--new").out())
        .containsExactly("reports runs at most 1 job at once");
    assertThat(settings()).isEqualTo(1);
    // From now on it is known by its settings.
    assertThat(run(way, "queues", "rate", "reports", "1").out())
        .containsExactly("reports starts at most 1 job per 1s");
    assertThat(run(way, "queues", "pause", "reports").code()).isZero();
    assertThat(run(way, "queues", "resume", "reports").code()).isZero();
    assertThat(run(way, "queues", "pause", "audits", "--new").code()).isZero();
    assertThat(run(way, "queues", "rate", "images", "2", "--new").code()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void a_queue_of_a_job_a_schedule_a_process_or_the_settings_is_known(Way way) {
    holdfast.enqueue(Job.of("echo").queue("done"));
    holdfast.worker("done").handle(ExampleKinds.all()).drain();
    holdfast
        .admin()
        .schedule(Schedule.of("nightly", "@daily", ZoneOffset.UTC, Job.of("echo").queue("nights")));
    holdfast
        .store()
        .workers()
        .processes()
        .starting(new WorkerProcesses.Place("here", "worker:tags:0", 1), 0, false);
    for (String queue : List.of("default", "done", "nights", "tags")) {
      assertThat(run(way, "queues", "pause", queue).err()).isEmpty();
    }
    Map<String, String> served = Map.of("HOLDFAST_WORKER_QUEUES", "a,served");
    assertThat(run(way, served, "queues", "pause", "served").err()).isEmpty();
    assertThat(run(way, "queues", "pause", "strange").err())
        .singleElement()
        .asString()
        .contains("'holdfast queues list' shows those in use");
  }

  @ParameterizedTest
  @EnumSource
  void an_invalid_queue_name_is_rejected(Way way) {
    Terminal.Answer answer = run(way, "queues", "pause", "a b");
    assertThat(answer.code()).isEqualTo(ExitCode.REFUSED);
    assertThat(answer.err().getFirst()).contains("the space does not belong there");
  }
}
