package onboarding;

import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.Approval;
import dev.holdfast.worker.handler.JobContext;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What happens to a user from the welcome to the end of the trial: one method, many days. */
public final class Onboarding {
  /** The payload: any record that Jackson can write. */
  record User(String name, List<String> pages) {}

  /** What a user tells the job by signing. */
  record Contract(String number) {}

  /** The result of the job. */
  record Result(String contract, boolean limitRaised, List<Integer> words) {}

  private final Holdfast holdfast;
  private final Duration coolOff;

  Onboarding(Holdfast holdfast, Duration coolOff) {
    this.holdfast = holdfast;
    this.coolOff = coolOff;
  }

  // region onboard
  Object onboard(User user, JobContext context) {
    context.step("welcome", () -> mail(user, "welcome"));
    context.sleep("cool-off", coolOff); // three days: no slot, no lease, no thread
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
    return new Result(signed.get().number(), limit.approved(), words);
  }

  // endregion

  // region worker
  WorkerBuilder worker() {
    return holdfast
        .worker("onboarding")
        .handle("onboard", User.class, this::onboard)
        .handle("count-words", String.class, (page, context) -> page.split(" ").length);
  }

  // endregion

  // region around
  /** The unique key is the name by which the rest of the service finds the job. */
  Enqueued signUp(User user) {
    return holdfast.enqueue(Job.of("onboard", user).queue("onboarding").uniqueKey(user.name()));
  }

  SignalToJob.Answer sign(String user, Contract contract) {
    return holdfast.signal("onboard", user, "contract", contract);
  }

  // endregion

  private static void mail(User user, String text) {
    System.out.println("mail to " + user.name() + ": " + text);
  }

  public static void main(String[] arguments) throws Exception {
    Duration coolOff = Duration.parse(System.getenv().getOrDefault("COOL_OFF", "P3D"));
    HikariConfig config = new HikariConfig(); // any pool will do
    config.setJdbcUrl(System.getenv("DATABASE_URL"));
    config.setMaximumPoolSize(10);
    try (HikariDataSource pool = new HikariDataSource(config);
        Holdfast holdfast = Holdfast.on(pool).check()) {
      Onboarding onboarding = new Onboarding(holdfast, coolOff);
      try (Worker worker = onboarding.worker().start()) {
        Enqueued ada = onboarding.signUp(new User("Ada", List.of("one two", "three")));
        System.out.println("job " + ada.id() + (ada.duplicate() ? " goes on" : " has begun"));
        JobStatus end = holdfast.await(ada.id(), Duration.ofDays(30)).orElseThrow();
        System.out.println(end.kind() + " " + end.state() + " " + end.result());
      }
    }
  }
}
