package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.testkit.Eventually;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code runs}, short ids, {@code -o} and {@code jobs list --watch}. */
class RunsCommandTest extends OperatorCommandFixture {
  private JobId run() {
    JobId run = JobId.next();
    Job left = Job.of("parse").run(run, "left").dependsOn(run);
    Job right = Job.of("parse").run(run, "right").dependsOn(run);
    Job load = Job.of("load").run(run, "load").dependsOn(left.id(), right.id());
    Job child = Job.of("note").run(run, "note").parent(run);
    holdfast.enqueue(List.of(Job.of("fetch").id(run).run(run, "fetch"), left, right, load, child));
    return run;
  }

  @Test
  void runs_are_listed_with_the_states_of_their_jobs() throws IOException {
    assertThat(run("runs", "list")).isZero();
    assertThat(said()).contains("no runs");
    JobId first = run();
    JobId second = run();
    assertThat(run("runs", "list")).isZero();
    assertThat(said()).contains("RUN", "fetch", "3 WAITING, 2 PENDING");
    assertThat(said().indexOf(second.toString())).isLessThan(said().indexOf(first.toString()));
    run("runs", "list", "-n", "1");
    assertThat(said()).contains("more: --before 2");
    String cursor = said().strip().replaceAll("(?s).*--before ", "");
    run("runs", "list", "--before", cursor, "-o", "json");
    assertThat(json()).hasSize(1);
    assertThat(json().get(0).get("id").asText()).isEqualTo(first.toString());
  }

  @Test
  void a_run_is_shown_as_a_tree_of_its_jobs() throws IOException {
    JobId run = run();
    assertThat(run("runs", "show", run.toString())).isZero();
    assertThat(said()).contains("fetch " + run + "  PENDING");
    assertThat(said().lines().map(line -> line.replaceAll("  .*", "")).toList())
        .containsSubsequence("JOB", "fetch", "├─ left", "│", "├─ right", "└─ note");
    assertThat(said()).contains("│  └─ load").containsPattern("load .*also after right");
    String child =
        holdfast.queries().run(run, Tenant.ANY).orElseThrow().jobs().get(3).id().toString();
    assertThat(run("runs", "show", child, "--json")).as("by any of its jobs").isZero();
    assertThat(json().at("/run/id").asText()).isEqualTo(run.toString());
    assertThat(json().get("dependencies")).hasSize(4);
    assertThat(run("runs", "show", JobId.next().toString())).isEqualTo(ExitCode.NOT_FOUND);
  }

  @Test
  void a_job_is_named_by_the_beginning_or_the_end_of_its_id() throws IOException {
    String one = "00000000-0000-7000-8000-0000000000aa";
    String two = "00000000-0000-7000-8000-0000000000ab";
    run("enqueue", "echo", "--id", one);
    run("enqueue", "echo", "--id", two);
    assertThat(run("jobs", "show", "00aa", "--json")).isZero();
    assertThat(json().get("id").asText()).isEqualTo(one);
    assertThat(run("jobs", "show", "…00AB")).isZero();
    assertThat(run("jobs", "cancel", "00000000-0000-7000")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains(one).contains(two).contains("several ids begin or end with");
    assertThat(run("jobs", "cancel", "00ab", "-r", "x")).isZero();
    assertThat(said()).contains(two + "  cancelled");
    assertThat(run("jobs", "retry", "00ab")).isZero();
    assertThat(run("jobs", "log", "00ac")).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(complained()).contains("no job whose id begins or ends with '00ac'");
    assertThat(run("jobs", "show", "0ab")).isEqualTo(ExitCode.REFUSED);
  }

  @Test
  void output_is_printed_as_a_table_as_json_or_as_yaml() throws IOException {
    String hostile = "no: \u001b[31mred\n- true";
    // Not due, so that nothing that is printed grows older.
    holdfast.enqueue(Job.of("echo", hostile).delay(Duration.ofHours(1)));
    Job other = Job.of("echo").queue("123").delay(Duration.ofHours(1));
    String id = holdfast.enqueue(other).id().toString();
    assertThat(run("jobs", "list", "-o", "wide")).isZero();
    assertThat(said()).contains("PRIORITY", "TENANT", "default");
    for (String[] command :
        new String[][] {
          {"jobs", "list"},
          {"jobs", "show", id},
          {"jobs", "steps", id},
          {"queues", "list"},
          {"workers", "list"},
          {"schedules", "list"},
          {"keys", "list"},
          {"runs", "list"},
          {"failures"},
          {"stats"},
          {"config"},
          {"scratch", "list"}
        }) {
      String[] json = Arrays.copyOf(command, command.length + 2);
      json[command.length] = "-o";
      json[command.length + 1] = "json";
      assertThat(run(json)).as(String.join(" ", json)).isZero();
      var read = json();
      json[command.length + 1] = "yaml";
      assertThat(run(json)).as(String.join(" ", json)).isZero();
      assertThat(said()).doesNotContain("\u001b");
      assertThat(new YAMLMapper().readTree(said())).as(String.join(" ", json)).isEqualTo(read);
    }
    assertThat(run("jobs", "list", "--json", "-o", "yaml")).isEqualTo(ExitCode.USAGE);
    assertThat(run("jobs", "list", "-o", "xml")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void a_list_is_watched_and_changes_are_printed_below_it() throws Exception {
    JobId first = holdfast.enqueue(Job.of("echo")).id();
    Thread watching =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    run("jobs", "list", "--watch");
                  } catch (IOException impossible) {
                    throw new IllegalStateException(impossible);
                  }
                });
    try {
      Eventually.until(() -> said().contains(first.toString()));
      JobId second = holdfast.enqueue(Job.of("sleep").queue("other")).id();
      Eventually.until(() -> said().contains(second.toString()));
      holdfast.cancel(first, "enough");
      Eventually.until(() -> said().contains("CANCELLED"));
      assertThat(said().lines().filter(line -> line.contains("KIND"))).hasSize(1);
      assertThat(said().lines().filter(line -> line.contains(first.toString()))).hasSize(2);
      assertThat(said().lines().filter(line -> line.contains(second.toString()))).hasSize(1);
    } finally {
      watching.interrupt();
      watching.join();
    }
    assertThat(run("jobs", "list", "--watch", "--before", first.toString()))
        .isEqualTo(ExitCode.USAGE);
  }
}
