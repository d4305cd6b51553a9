package dev.holdfast.contract.operate;

import dev.holdfast.model.notice.Notice;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What an operator can do with notices: messages to others about questions that jobs ask. */
public interface NoticeOperator {
  /**
   * The newest first.
   *
   * @param state null for all
   */
  List<Notice> list(Notice.@Nullable State state, int most);

  /**
   * Sends a notice again, or for the first time at once, whatever has become of it. Refused when
   * its question is not asked any longer.
   */
  void sendAgain(UUID notice);
}
