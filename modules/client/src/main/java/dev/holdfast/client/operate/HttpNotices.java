package dev.holdfast.client.operate;

import dev.holdfast.contract.operate.NoticeOperator;
import dev.holdfast.model.notice.Notice;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Notices, through a server. */
final class HttpNotices implements NoticeOperator {
  private final OperatorCalls server;

  HttpNotices(OperatorCalls server) {
    this.server = server;
  }

  @Override
  public List<Notice> list(Notice.@Nullable State state, int most) {
    String filter = state == null ? "" : "&state=" + state.name();
    return server.list("/v1/notices?limit=" + most + filter, "notices", Notice.class);
  }

  @Override
  public void sendAgain(UUID notice) {
    server.post("/v1/notices/" + notice + "/send", OperatorCalls.NOTHING);
  }
}
