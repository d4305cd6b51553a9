package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.queue.Notices;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Jobs whose handlers wait, on the command line. */
@ExtendWith(DatabaseExtension.class)
class WaitCommandsTest {
  @TempDir Path folder;
  private TestDatabase database;
  private Holdfast holdfast;
  private final PrintStream out = System.out;
  private final PrintStream err = System.err;
  private String more = "";
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();

  @BeforeEach
  void open(TestDatabase given) {
    database = given;
    holdfast = Holdfast.on(database.dataSource());
    System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
  }

  @AfterEach
  void close() {
    System.setOut(out);
    System.setErr(err);
    holdfast.close();
  }

  private int run(String... arguments) throws IOException {
    said.reset();
    Path file =
        Files.writeString(
            folder.resolve("holdfast.yaml"),
            "database: {url: '%s', user: '%s', password: '%s', allowUnsafe: true}"
                    .formatted(database.url(), database.user(), database.password())
                + more);
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--config", file.toString()));
    return Main.run(all.toArray(String[]::new));
  }

  private String said() {
    return said.toString(StandardCharsets.UTF_8);
  }

  private JobId waiting(Wait wait) {
    JobId id = holdfast.enqueue(Job.of("onboard")).id();
    Lease lease =
        holdfast
            .jobs()
            .claim(new ClaimRequest("default", 1, "w", Duration.ofMinutes(5)))
            .jobs()
            .getFirst()
            .lease();
    assertThat(holdfast.jobs().suspend(new Suspension(lease, 1, wait)))
        .isEqualTo(WaitAnswer.SUSPENDED);
    return id;
  }

  private JobState state(JobId id) {
    return holdfast.find(id).orElseThrow().state();
  }

  @Test
  void a_signal_wakes_a_job_once() throws IOException {
    JobId id = waiting(new Wait.ForSignal("contract", "contract", Duration.ofDays(7)));
    assertThat(run("jobs", "show", id.toString())).isZero();
    assertThat(said()).contains("waits for", "the signal 'contract', until 20");
    assertThat(run("jobs", "list", "--search", "waits:signal")).isZero();
    assertThat(said()).contains(id.toString(), "waits for the signal 'contract'");
    assertThat(run("jobs", "signal", id.toString(), "contract", "{\"n\": 1}", "--key", "k"))
        .isZero();
    assertThat(said()).contains("told");
    assertThat(state(id)).isEqualTo(JobState.PENDING);
    assertThat(run("jobs", "signal", id.toString(), "contract", "--key", "k", "--json")).isZero();
    assertThat(said()).contains("\"duplicate\" : true");
    assertThat(run("jobs", "signal", id.toString(), "contract", "{")).isEqualTo(ExitCode.REFUSED);
    assertThat(run("jobs", "cancel", id.toString())).isZero();
    assertThat(run("jobs", "signal", id.toString(), "contract")).isEqualTo(ExitCode.REFUSED);
    assertThat(said()).contains("has already ended");
    assertThat(run("jobs", "signal", JobId.next().toString(), "contract"))
        .isEqualTo(ExitCode.NOT_FOUND);
  }

  @Test
  void questions_are_in_the_inbox_until_they_are_decided() throws IOException {
    assertThat(run("inbox")).isZero();
    assertThat(said()).contains("no job asks anybody");
    Question question = Question.of("Raise the limit?").within(Duration.ofDays(2));
    JobId yes = waiting(new Wait.ForApproval("limit", question));
    JobId no = waiting(new Wait.ForApproval("limit", question));
    assertThat(run("inbox")).isZero();
    assertThat(said()).contains(yes.toString(), no.toString(), "reject", "operator", "Raise");
    assertThat(run("inbox", "--json", "-n", "1")).isZero();
    assertThat(said()).contains(yes.toString(), "Raise the limit?").doesNotContain(no.toString());
    assertThat(run("jobs", "approve", yes.toString(), "--comment", "fine")).isZero();
    assertThat(said()).contains("'limit' approved");
    assertThat(run("jobs", "reject", no.toString(), "--wait", "another"))
        .isEqualTo(ExitCode.REFUSED);
    assertThat(run("jobs", "reject", no.toString(), "--wait", "limit")).isZero();
    assertThat(run("jobs", "approve", no.toString())).isEqualTo(ExitCode.REFUSED);
    assertThat(said()).contains("asks nothing now");
    assertThat(holdfast.queries().steps(yes).getFirst().waitEnd().comment()).isEqualTo("fine");
    assertThat(run("inbox")).isZero();
    assertThat(said()).contains("no job asks anybody");
  }

  @Test
  void a_link_is_made_where_it_is_known_to_lead() throws IOException {
    JobId id = waiting(new Wait.ForApproval("limit", Question.of("Raise the limit?")));
    assertThat(run("jobs", "link", id.toString())).isEqualTo(ExitCode.CONFIGURATION);
    assertThat(said()).contains("HOLDFAST_SERVER_PUBLIC_URL", "--server");
    more = "\nserver: {publicUrl: 'https://jobs.example.org/'}";
    assertThat(run("jobs", "link", id.toString())).isZero();
    assertThat(said()).startsWith("https://jobs.example.org/approvals/ey");
    assertThat(run("jobs", "link", id.toString(), "--json")).isZero();
    assertThat(said()).contains("\"url\" : \"https://jobs.example.org/", "\"expiresAt\"");
    assertThat(run("jobs", "link", id.toString(), "--wait", "other")).isEqualTo(ExitCode.REFUSED);
    assertThat(run("jobs", "approve", id.toString())).isZero();
    assertThat(run("jobs", "link", id.toString())).isEqualTo(ExitCode.REFUSED);
    assertThat(said()).contains("asks nothing now");
  }

  @Test
  void notices_are_listed_and_sent_again_while_there_is_something_to_tell() throws IOException {
    assertThat(run("notices", "list")).isZero();
    assertThat(said()).contains("no notices");
    JobId id = waiting(new Wait.ForApproval("limit", Question.of("Raise the limit?")));
    Notices notices = holdfast.store().notices();
    notices.writeNotices();
    Notice.Try tried = notices.claimNotices(1, Duration.ofMinutes(1)).getFirst();
    notices.noticeFailed(tried, 503, "status 503", Duration.ofDays(2));
    assertThat(run("notices", "list", "--state", "given_up")).isZero();
    assertThat(said()).contains(tried.id().toString(), "given_up", "status 503", id.toString());
    assertThat(run("health")).isEqualTo(ExitCode.NOT_HEALTHY);
    assertThat(said()).contains("1 notice of open questions", "holdfast notices send ID");
    assertThat(run("notices", "list", "--state", "lost")).isEqualTo(ExitCode.REFUSED);
    assertThat(said()).contains("choose pending, delivered, superseded, given_up");
    assertThat(run("notices", "send", tried.id().toString())).isZero();
    assertThat(run("notices", "list", "--json")).isZero();
    assertThat(said()).contains("\"state\" : \"PENDING\"", "\"waitId\" : \"limit\"");
    assertThat(run("notices", "send", "7")).isEqualTo(ExitCode.USAGE);
    assertThat(run("notices", "send", JobId.next().toString())).isEqualTo(ExitCode.NOT_FOUND);
    holdfast.cancel(id, "enough");
    assertThat(run("notices", "send", tried.id().toString())).isEqualTo(ExitCode.REFUSED);
    assertThat(said()).contains("not asked any longer");
  }
}
