package dev.holdfast.queue.wait;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;

/** What only some sorts of waits have, as stored in the database. */
final class WaitJson {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private WaitJson() {}

  static String rest(Wait wait) {
    ObjectNode rest = MAPPER.createObjectNode();
    if (wait instanceof Wait.ForApproval approval) {
      Question question = approval.question();
      rest.putObject("question")
          .put("text", question.text())
          .put("details", question.details())
          .put("role", question.role().name())
          .put("afterwards", question.afterwards().name());
    } else if (wait instanceof Wait.ForChildren children) {
      children.started().forEach(rest.putArray("started")::add);
      rest.put("any", children.any()).put("failFast", children.failFast());
    }
    return rest.toString();
  }
}
