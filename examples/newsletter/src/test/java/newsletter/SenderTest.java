package newsletter;

import static dev.holdfast.test.HoldfastAssertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobState;
import dev.holdfast.test.HoldfastExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

// region test
@ExtendWith(HoldfastExtension.class) // an empty database for each test
class SenderTest {
  @Test
  void an_issue_is_sent_to_its_readers(Holdfast holdfast) {
    holdfast.enqueue(Job.of("send-issue", new Issue("Hello", 2)).queue("news"));

    holdfast.worker("news").handle("send-issue", Issue.class, new Sender()::send).drain();

    assertThat(holdfast).enqueued("send-issue").inState(JobState.SUCCEEDED).once();
  }
}
// endregion
