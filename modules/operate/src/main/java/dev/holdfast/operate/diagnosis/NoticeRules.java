package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.ProblemCode;
import java.util.ArrayList;
import java.util.List;

/** The receiver of notices does not take them, or nobody was told of a question. */
final class NoticeRules implements Rule {
  @Override
  public List<Finding> check(Situation situation) {
    Notice.Trouble trouble = situation.facts().notices();
    List<Finding> found = new ArrayList<>();
    if (trouble.failing() > 0) {
      found.add(
          Finding.of(ProblemCode.NOTICES_FAILING)
              .with(Finding.NOTICES, trouble.failing())
              .with(Finding.REASON, trouble.reason()));
    }
    if (trouble.givenUp() > 0) {
      found.add(Finding.of(ProblemCode.NOTICES_GIVEN_UP).with(Finding.NOTICES, trouble.givenUp()));
    }
    return found;
  }
}
