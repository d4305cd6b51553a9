package dev.holdfast.server.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.NoticeOperator;
import dev.holdfast.model.notice.Notice;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Notices: messages to others about questions that jobs ask. */
public final class NoticesApi {
  private static final int USUAL = 100;
  private static final Pattern ID =
      Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", Pattern.CASE_INSENSITIVE);

  private final Operators operators;
  private final ServerOptions.@Nullable Receiver receiver;

  public NoticesApi(Operators operators, ServerOptions options) {
    this.operators = operators;
    this.receiver = options.notices();
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/notices", Guard.READ, this::list).queries("state", "limit"),
        Route.post("/v1/notices/{id}/send", Guard.OPERATE, this::send).maxBody(Route.SMALL));
  }

  private NoticeOperator notices(Call call) {
    return operators.of(call).notices();
  }

  private Answer list(Call call) {
    Notice.State state = call.query("state").map(Notice.State::of).orElse(null);
    int most = call.whole("limit", USUAL, 1, Notice.MOST);
    ObjectNode node = Wire.object();
    // The receiver is not for the key of one tenant to know.
    node.put(
        "receiver", receiver == null || !call.caller().seesEveryTenant() ? null : receiver.shown());
    node.putPOJO("notices", notices(call).list(state, most));
    return Answer.ok(node);
  }

  private Answer send(Call call) {
    call.body(JobActionsApi.Nothing.class, new JobActionsApi.Nothing());
    UUID id = id(call.value("id"));
    notices(call).sendAgain(id);
    return Answer.ok(Wire.object().put("id", id.toString()).put("state", "PENDING"));
  }

  private static UUID id(String text) {
    if (!ID.matcher(text).matches()) {
      throw new Problem(400, "bad_id", "the id of a notice is a UUID");
    }
    return UUID.fromString(text);
  }
}
