package dev.holdfast.app.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.supervisor.Supervisor.Standing;
import java.util.List;
import org.junit.jupiter.api.Test;

class SuperviseCommandTest {
  @Test
  void workers_that_do_not_work_are_named_with_what_to_do() {
    assertThat(SuperviseCommand.missing(new Standing(List.of(), List.of()))).isEmpty();
    assertThat(
            SuperviseCommand.missing(
                new Standing(List.of("worker:a:1"), List.of("worker:a:0", "worker:b:0"))))
        .isEqualTo(
            "; stopped: worker:a:1 ('holdfast workers resume' starts it); not healthy: worker:a:0,"
                + " worker:b:0 ('holdfast health' says why)");
  }
}
