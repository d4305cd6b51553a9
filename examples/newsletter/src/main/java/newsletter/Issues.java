package newsletter;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import java.util.UUID;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class Issues {
  private final JdbcClient jdbc;
  private final Holdfast holdfast;

  Issues(JdbcClient jdbc, Holdfast holdfast) {
    this.jdbc = jdbc;
    this.holdfast = holdfast;
  }

  // region publish
  /** The row and the job commit together, or not at all. */
  @Transactional
  @PostMapping("/issues")
  public String publish(@RequestBody Issue issue) {
    jdbc.sql("INSERT INTO issue VALUES (?, ?)").params(UUID.randomUUID(), issue.subject()).update();
    return holdfast.enqueue(Job.of("send-issue", issue).queue("news")).id() + "\n";
  }
  // endregion
}
