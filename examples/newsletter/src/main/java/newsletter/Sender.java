package newsletter;

import dev.holdfast.spring.JobHandler;
import dev.holdfast.worker.handler.JobContext;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

@Component
public class Sender {
  private static final Logger log = LoggerFactory.getLogger(Sender.class);

  // region handler
  @JobHandler("send-issue")
  public Map<String, Object> send(Issue issue, JobContext context) {
    for (int reader = 1; reader <= issue.readers(); reader++) {
      int number = reader;
      // A step that is done is not done again, whatever happens to this process.
      context.step("reader-" + number, () -> mail(issue, number));
      context.progress(100 * number / issue.readers(), "reader " + number);
    }
    return Map.of("sent", issue.readers());
  }

  private void mail(Issue issue, int reader) throws InterruptedException {
    Thread.sleep(500); // a slow mail server
    log.info("'{}' to reader {}", issue.subject(), reader);
  }
  // endregion
}
