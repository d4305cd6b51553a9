package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.supervisor.WorkerLog;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.program.Launch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The program as it is started, where jobs carry text that is meant for the terminal. */
@OnlyWithAll
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class TerminalTest {
  private static final String TEXT = "a\u001b[31mb\u009b2Jc\u001b]0;t\u0007d\u202ee\u200bf\u2028g";
  private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

  private static JobId failedJob(World world) {
    JobId id = JobId.next();
    world
        .holdfast()
        .enqueue(Job.of("build", Map.of(TEXT, TEXT)).id(id).run(id, TEXT).uniqueKey(TEXT));
    Lease lease =
        world
            .holdfast()
            .jobs()
            .claim(new ClaimRequest("default", 1, "w" + TEXT, Duration.ofMinutes(5)))
            .jobs()
            .getFirst()
            .lease();
    Json event = new Json("{\"" + "\u009b2J\u202e" + "\": \"\\u001b[31m\u202e\"}");
    world
        .holdfast()
        .jobs()
        .report(
            List.of(new Report.Progress(lease, 7, TEXT), new Report.Event(lease, "note", event)));
    Failure failure = Failure.of(FailureCategory.DATA_QUALITY, TEXT, TEXT);
    world.holdfast().jobs().settle(new Settlement.Fail(lease, failure, null));
    return id;
  }

  @Test
  void the_program_prints_no_text_of_a_job_that_a_terminal_would_obey_or_hide(World world) {
    String id = failedJob(world).toString();
    for (List<String> command :
        List.of(
            List.of("jobs", "show", id),
            List.of("jobs", "show", id, "-o", "json"),
            List.of("jobs", "show", id, "-o", "yaml"),
            List.of("runs", "show", id),
            List.of("jobs", "watch", id),
            List.of("failures", "-o", "wide"),
            List.of("enqueue", "build", TEXT),
            List.of(TEXT))) {
      Launch launch = world.launch(command.toArray(String[]::new));
      Launch.Answer answer = launch.env("HOLDFAST_DATABASE_ALLOW_UNSAFE", "1").run();
      assertThat(Stream.concat(answer.out().stream(), answer.err().stream()))
          .as("%s", command)
          .isNotEmpty()
          .noneMatch(line -> UNPRINTABLE.matcher(line).find());
    }
  }

  @Test
  void a_log_that_is_followed_has_no_escape_sequence_even_where_it_is_cut(World world)
      throws IOException {
    Path logs = Files.createDirectories(world.folder().resolve("logs"));
    Path file = WorkerLog.file(logs, "worker:default:0");
    Files.writeString(file, "first " + TEXT + "\n");
    ChildProcess following =
        world
            .launch("logs", "-f", "worker:default:0")
            .env("HOLDFAST_SUPERVISOR_LOGS_FOLDER", logs.toString())
            .begin();
    following.awaitLine("^first ", SOON);
    // A character and a sequence in two pieces: the second comes after the first was read.
    byte[] more = ("second ü \u001b[31m\u009b2J\u202e end\n").getBytes(StandardCharsets.UTF_8);
    for (byte each : more) {
      Files.write(file, new byte[] {each}, StandardOpenOption.APPEND);
    }
    following.awaitLine("^second ü .*end", SOON);
    assertThat(following.lines()).noneMatch(line -> UNPRINTABLE.matcher(line).find());
  }
}
