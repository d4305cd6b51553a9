package dev.holdfast.queue.jdbc;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.model.wait.WaitSort;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What jobs wait for, as stored in the database. */
public final class WaitJson {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private WaitJson() {}

  /** From the columns of a job; null when its handler waits for nothing. */
  public static @Nullable OpenWait read(ResultSet row) throws SQLException {
    String sort = row.getString("wait_sort");
    if (sort == null) {
      return null;
    }
    try {
      JsonNode wait = MAPPER.readTree(row.getString("wait"));
      List<String> started = new ArrayList<>();
      wait.path("started").forEach(each -> started.add(each.asText()));
      return new OpenWait(
          wait.path("id").asText(),
          WaitSort.valueOf(sort),
          wait.path("name").asText(null),
          OffsetDateTime.parse(wait.path("since").asText()).toInstant(),
          Rows.instantOrNull(row, "wake_at"),
          asked(wait.get("question")),
          started);
    } catch (JsonProcessingException corrupt) {
      throw new IllegalStateException("a stored wait is not readable", corrupt);
    }
  }

  private static OpenWait.@Nullable Asked asked(@Nullable JsonNode question) {
    return question == null
        ? null
        : new OpenWait.Asked(
            question.path("text").asText(),
            question.path("details").asText(),
            Question.Decider.valueOf(question.path("role").asText()),
            Question.Unanswered.valueOf(question.path("afterwards").asText()));
  }

  /** What only some sorts have. */
  public static String rest(Wait wait) {
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
