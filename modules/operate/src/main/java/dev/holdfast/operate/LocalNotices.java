package dev.holdfast.operate;

import dev.holdfast.contract.operate.NoticeOperator;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.operate.OperatorException.Reason;
import dev.holdfast.contract.operate.Principal;
import dev.holdfast.model.notice.Notice;
import dev.holdfast.queue.Notices;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Notices, on the database. One of another tenant is answered as one that does not exist. */
final class LocalNotices implements NoticeOperator {
  private final Notices notices;
  private final Principal caller;

  LocalNotices(Notices notices, Principal caller) {
    this.notices = notices;
    this.caller = caller;
  }

  @Override
  public List<Notice> list(Notice.@Nullable State state, int most) {
    return notices.notices(state, caller.tenant(), most);
  }

  @Override
  public void sendAgain(UUID notice) {
    switch (notices.sendNoticeAgain(notice, caller.tenant())) {
      case ACCEPTED -> {}
      case NO_SUCH_NOTICE ->
          throw new OperatorException(Reason.NOT_FOUND, "there is no notice " + notice);
      case SUPERSEDED ->
          throw new OperatorException(
              Reason.NOT_ASKED,
              "the question of this notice is not asked any longer: there is nothing to tell");
    }
  }
}
