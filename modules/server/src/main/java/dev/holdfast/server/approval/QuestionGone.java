package dev.holdfast.server.approval;

import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.notice.AskedQuestion;
import dev.holdfast.server.http.Problem;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Why nothing can be decided by a link. */
final class QuestionGone {
  private QuestionGone() {}

  static Problem noLink() {
    return Problem.notFound(
        "this is no link to a question, or not the whole of one: open it from the message again");
  }

  static Problem expired() {
    return new Problem(
        410, "link_expired", "this link has expired, and so has what could be decided by it");
  }

  static Problem withdrawn(@Nullable AskedQuestion asked) {
    if (asked != null && asked.state() == JobState.CANCELLED) {
      return new Problem(
          410, "question_withdrawn", "the question was withdrawn: its job was cancelled");
    }
    return new Problem(
        410,
        "question_withdrawn",
        asked == null
            ? "the question was withdrawn: its job is not there any longer"
            : "the question is not asked any longer; if the job asks again, there is another link");
  }

  static Problem decided(WaitEnd end) {
    if (end.outcome() == WaitEnd.Outcome.TIMEOUT) {
      return new Problem(410, "link_expired", "nobody has decided in time");
    }
    Instant at = end.at();
    boolean approved = end.outcome() == WaitEnd.Outcome.APPROVED;
    Problem problem =
        new Problem(
            409,
            "already_decided",
            "this was %s already, %s%s"
                .formatted(
                    approved ? "approved" : "rejected",
                    end.by() == null ? "because nobody had decided in time" : "by " + end.by(),
                    at == null ? "" : ", at " + QuestionPage.moment(at)));
    problem.with("approved", approved);
    if (end.by() != null) {
      problem.with("by", end.by());
    }
    if (at != null) {
      problem.with("at", at.toString());
    }
    return problem;
  }
}
