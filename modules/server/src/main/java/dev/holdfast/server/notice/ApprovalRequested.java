package dev.holdfast.server.notice;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.holdfast.contract.token.ApprovalLinks;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.notice.AskedQuestion;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.model.wait.Question;
import java.net.URI;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The body of a notice: a job asks somebody.
 *
 * @param timestamp when it was asked
 */
record ApprovalRequested(String type, Instant timestamp, Data data) {
  private static final String TYPE = "approval.requested";

  record Data(OfJob job, Asks question, Links links) {}

  /** The job that asks. */
  record OfJob(JobId id, String kind, String queue, String tenant, String run) {}

  /**
   * @param until null without a bound
   * @param afterwards what happens then
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  record Asks(
      String waitId,
      String text,
      String details,
      String role,
      Instant since,
      @Nullable Instant until,
      Question.@Nullable Unanswered afterwards) {}

  /**
   * @param decide decides without a key: as secret as one
   * @param page shows the job to those who have a key
   */
  record Links(URI decide, Instant expiresAt, URI page) {}

  static ApprovalRequested of(AskedQuestion asked, ApprovalLinks.Link link, URI server) {
    OpenWait open = asked.open();
    OpenWait.Asked question = open == null ? null : open.question();
    if (open == null || question == null) {
      throw new IllegalArgumentException("job " + asked.job() + " asks nobody");
    }
    return new ApprovalRequested(
        TYPE,
        open.since(),
        new Data(
            new OfJob(asked.job(), asked.kind(), asked.queue(), asked.tenant(), asked.run()),
            new Asks(
                open.id(),
                question.text(),
                question.details(),
                question.role().word(),
                open.since(),
                open.until(),
                open.until() == null ? null : question.afterwards()),
            new Links(
                link.url(), link.expiresAt(), URI.create(server + "/#/jobs/" + asked.job()))));
  }
}
