package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Code in docs/guides/durable.md about versions of handlers. */
@ExtendWith(HoldfastExtension.class)
class VersionsTest {
  private record User(String name) {}

  private Object onboardAsBefore(User user, JobContext context) {
    return context.await("hello", String.class) + " as before, " + user.name();
  }

  private Object onboard(User user, JobContext context) {
    return context.await("hello", String.class) + ", " + user.name();
  }

  private WorkerBuilder both(WorkerBuilder worker) {
    return
    // region versions
    worker
        .handle(Kind.of("onboard", User.class, this::onboardAsBefore).version(1))
        .handle(Kind.of("onboard", User.class, this::onboard).version(2));
    // endregion
  }

  @Test
  void a_worker_with_both_versions_goes_on_with_each_job_as_it_has_begun(Holdfast holdfast) {
    JobId old = holdfast.enqueue(Job.of("onboard", new User("Ada"))).id();
    holdfast
        .worker("default")
        .handle(Kind.of("onboard", User.class, this::onboardAsBefore).version(1))
        .drain();
    JobId young = holdfast.enqueue(Job.of("onboard", new User("Grace"))).id();
    both(holdfast.worker("default")).drain();
    assertThat(holdfast.signal(old, "hello", "Hello")).isNotNull();
    assertThat(holdfast.signal(young, "hello", "Hello")).isNotNull();
    both(holdfast.worker("default")).drain();
    assertThat(holdfast.result(old, String.class)).contains("Hello as before, Ada");
    assertThat(holdfast.result(young, String.class)).contains("Hello, Grace");
  }
}
