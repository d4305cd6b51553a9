package dev.holdfast.workspace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.JacksonCodec;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.steps.FailedAttempt;
import dev.holdfast.worker.steps.FailureClass;
import dev.holdfast.worker.steps.Strategy;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@OnlyWithAll
class FailureFileTest {
  @TempDir Path folder;

  @Test
  void a_failed_attempt_that_left_no_changes_has_no_diff_hash() throws Exception {
    new FailureFile(folder, new JacksonCodec())
        .write(
            "a/b",
            1,
            new FailedAttempt(2, FailureClass.TRANSIENT_RUNTIME, "signature", null),
            "summary",
            Strategy.SOFT_RESET);
    assertThat(Files.readString(folder.resolve("state/self_heal/attempt-a_b-2.json")))
        .contains("\"summary\":\"summary\"")
        .doesNotContain("diffHash", "null");
  }
}
