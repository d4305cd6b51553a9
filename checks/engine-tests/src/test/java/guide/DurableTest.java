package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.Approval;
import dev.holdfast.worker.handler.Child;
import dev.holdfast.worker.handler.JobContext;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Handlers that wait, ask and start other jobs. */
@SuppressWarnings("try") // The worker is only to run.
class DurableTest extends Guide {
  private final List<String> mails = new ArrayList<>();

  private record User(String name, List<String> pages) {}

  private record Contract(String number) {}

  private void mail(User user) {
    mails.add(user.name());
  }

  Object onboard(User user, JobContext context) {
    context.step("welcome", () -> mail(user));
    context.sleep("cool-off", Duration.ofDays(3)); // no slot, no lease, no thread
    Optional<Contract> signed = context.await("contract", Contract.class, Duration.ofDays(7));
    if (signed.isEmpty()) {
      return "did not sign";
    }
    Approval limit =
        context.approve(
            "limit",
            Question.of("Raise the limit of " + user.name() + "?").within(Duration.ofDays(2)));
    List<Integer> words =
        context.map("count", user.pages(), page -> Job.of("count-words", page), Integer.class);
    return limit.approved() + " " + words;
  }

  private Worker worker() {
    return holdfast
        .worker("onboarding")
        .handle("onboard", User.class, this::onboard)
        .handle("count-words", String.class, (page, context) -> page.split(" ").length)
        .poll(Duration.ofMillis(100))
        .start();
  }

  private void passTime(JobId id) {
    db.sql("UPDATE holdfast.job SET wake_at = now() WHERE id = ?", id.value());
  }

  @Test
  void a_handler_sleeps_waits_asks_and_counts() throws SQLException {
    User ada = new User("Ada", List.of("one two", "three"));
    try (Worker running = worker()) {
      JobId id = enqueue(Job.of("onboard", ada).queue("onboarding").uniqueKey("ada"));
      await(id, JobState.WAITING);
      passTime(id);
      Awaitility.await()
          .until(() -> timeline(id).stream().filter(type -> type.equals("suspended")).count() == 2);
      try (Connection connection = dataSource.getConnection()) {
        connection.setAutoCommit(false);
        // region signal
        holdfast.signal(connection, id, "contract", new Contract("C-17")); // with your own writes
        // endregion
        connection.commit();
      }
      // region signal
      SignalToJob.Answer answer =
          holdfast.signal("onboard", "ada", "hello", "there"); // by unique key
      // endregion
      assertThat(answer).isEqualTo(SignalToJob.Answer.ACCEPTED);
      Awaitility.await()
          .until(() -> timeline(id).stream().filter(type -> type.equals("suspended")).count() == 3);
      // region decide
      holdfast
          .jobs()
          .decide(
              id,
              "limit",
              new Decision(true, "grace", "a good customer"),
              Role.OPERATOR,
              Tenant.ANY);
      // endregion
      await(id, JobState.SUCCEEDED);
      assertThat(status(id).result()).hasToString("\"true [2, 1]\"");
      assertThat(mails).containsExactly("Ada");
    }
  }

  // region join
  Object publish(User user, JobContext context) {
    Child html = context.spawn("html", Job.of("render-html", user));
    Child pdf = context.spawn("pdf", Job.of("render-pdf", user));
    List<ChildEnd> both = context.join("rendered", List.of(html, pdf));
    return both.size();
  }

  // endregion

  @Test
  void a_handler_starts_two_jobs_and_waits_for_both() {
    User ada = new User("Ada", List.of());
    try (Worker running =
        holdfast
            .worker("publishing")
            .handle("publish", User.class, this::publish)
            .handle("render-html", User.class, (user, context) -> "html")
            .handle("render-pdf", User.class, (user, context) -> "pdf")
            .poll(Duration.ofMillis(100))
            .start()) {
      JobId id = enqueue(Job.of("publish", ada).queue("publishing"));
      await(id, JobState.SUCCEEDED);
    }
  }

  private final List<String> fetched = new ArrayList<>();

  private record Feed(String url, int since) {}

  private int fetch(Feed feed) {
    fetched.add(feed.url() + " since " + feed.since());
    return feed.since() + 10;
  }

  // region loop
  Object follow(Feed feed, JobContext context) {
    int newest = context.step("fetch", Integer.class, () -> fetch(feed));
    context.sleep("pause", Duration.ofHours(1));
    return context.continueAs(new Feed(feed.url(), newest)); // does not return
  }

  // endregion

  @Test
  void a_loop_goes_on_as_another_job() {
    try (Worker running =
        holdfast
            .worker("feeds")
            .handle("follow", Feed.class, this::follow)
            .poll(Duration.ofMillis(100))
            .start()) {
      JobId first = enqueue(Job.of("follow", new Feed("news", 0)).queue("feeds").uniqueKey("news"));
      await(first, JobState.WAITING);
      passTime(first);
      await(first, JobState.SUCCEEDED);
      await(JobId.ofSuccessor(first), JobState.WAITING);
    }
    assertThat(fetched).containsExactly("news since 0", "news since 10");
  }
}
