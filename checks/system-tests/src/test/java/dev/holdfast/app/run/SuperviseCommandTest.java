package dev.holdfast.app.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.supervisor.Supervisor.Standing;
import java.util.List;
import org.junit.jupiter.api.Test;

class SuperviseCommandTest {
  @Test
  void stopped_and_unhealthy_workers_are_named_with_a_remedy() {
    assertThat(SuperviseCommand.missing(new Standing(List.of(), List.of()))).isEmpty();
    assertThat(
            SuperviseCommand.missing(
                new Standing(List.of("worker:a:1"), List.of("worker:a:0", "worker:b:0"))))
        .isEqualTo(
            "; stopped: worker:a:1 ('holdfast workers resume' starts it); not healthy: worker:a:0,"
                + " worker:b:0 ('holdfast health' says why)");
  }
}
