package dev.holdfast.steps;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class RetryContextTest {
  private static final String ENDLESS = "x".repeat(100_000);

  private static String text(String each, int times) {
    List<String> many = Collections.nCopies(times, each);
    WorkspaceJob.Task task = new WorkspaceJob.Task("build", each, each, "agent");
    WorkspaceJob job =
        new WorkspaceJob(each, new WorkspaceJob.Source("/repo", null), List.of(task), many, null);
    Step.Failed last =
        new Step.Failed(
            new FailedAttempt(2, FailureClass.TRANSIENT_RUNTIME, "exited with N", "ab12"),
            "exited with 1",
            many,
            Strategy.SOFT_RESET);
    return TestCodec.CODEC.encode(RetryContext.of(job, task, 1, new Step.Retry(3, last))).text();
  }

  @Test
  void says_what_is_to_be_done_and_what_went_wrong() {
    assertThat(text("make it better", 1))
        .contains(
            "\"objective\":\"make it better\"",
            "\"constraints\":[\"make it better\"]",
            "\"attempt\":3",
            "\"failureClass\":\"transient_runtime\"",
            "\"failureSignature\":\"exited with N\"",
            "\"summary\":\"exited with 1\"",
            "\"strategy\":\"soft_reset\"",
            "\"changedFiles\":[\"make it better\"]",
            "\"diffHash\":\"ab12\"");
  }

  @Test
  void is_small_whatever_the_job_and_the_program_come_up_with() {
    assertThat(text(ENDLESS, 1_000).length()).isLessThan(160_000);
  }
}
