package onboarding;

import static dev.holdfast.test.HoldfastAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestTime;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(HoldfastExtension.class) // an empty database for each test
class OnboardingTest {
  private static final Onboarding.User ADA =
      new Onboarding.User("Ada", List.of("one two", "three"));

  private Holdfast holdfast;
  private Onboarding onboarding;

  @BeforeEach
  void open(Holdfast holdfast) {
    this.holdfast = holdfast;
    this.onboarding = new Onboarding(holdfast, Duration.ofDays(3));
  }

  // region time
  @Test
  void a_user_signs_after_three_days(TestTime time) {
    JobId job = onboarding.signUp(ADA).id();
    time.advance(Duration.ofDays(3), onboarding.worker()); // takes no time

    onboarding.sign("Ada", new Onboarding.Contract("C-17"));
    onboarding.worker().drain();
    decide(job, new Decision(true, "grace", "a good customer"));
    onboarding.worker().drain();

    assertThat(holdfast.result(job, Onboarding.Result.class))
        .contains(new Onboarding.Result("C-17", true, List.of(2, 1)));
  }

  @Test
  void a_user_who_does_not_sign_within_a_week_is_left_alone(TestTime time) {
    JobId job = onboarding.signUp(ADA).id();
    time.advance(Duration.ofDays(9), onboarding.worker());
    assertThat(holdfast.find(job).orElseThrow().state()).isEqualTo(JobState.WAITING);
    time.advance(Duration.ofDays(1), onboarding.worker());
    assertThat(holdfast.result(job, String.class)).contains("did not sign");
    assertThat(onboarding.sign("Ada", new Onboarding.Contract("C-17")))
        .isEqualTo(SignalToJob.Answer.NO_SUCH_JOB);
  }

  // endregion

  @Test
  void nobody_decides_within_two_days(TestTime time) {
    JobId job = onboarding.signUp(ADA).id();
    onboarding.sign("Ada", new Onboarding.Contract("C-17")); // before the job asks for it
    time.advance(Duration.ofDays(3 + 2), onboarding.worker());
    assertThat(holdfast.result(job, Onboarding.Result.class))
        .contains(new Onboarding.Result("C-17", false, List.of(2, 1)));
    assertThat(holdfast).enqueued("count-words").inState(JobState.SUCCEEDED).times(2);
  }

  private void decide(JobId job, Decision decision) {
    holdfast.jobs().decide(job, "limit", decision, Role.OPERATOR, Tenant.ANY);
  }
}
