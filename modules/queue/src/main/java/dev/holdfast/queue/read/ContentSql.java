package dev.holdfast.queue.read;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.holdfast.model.job.JobContent;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.FailureSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Whether a row contains the searched text: true, false, or null where it cannot be read. */
final class ContentSql {
  static final int LARGEST_PAYLOAD = 1 << 16;

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private static final Sql LOWER = Sql.of("SELECT lower(:text) AS text");

  private static final String TEXT =
      """
      CASE WHEN position(:text::text IN lower(concat_ws(chr(10), id, kind, run_key, unique_key,
                                                        failure ->> 'code',
                                                        failure ->> 'message'))) > 0 THEN true
           ELSE ${inPayload}
      END
      """;

  // Of a payload only its size, as it is stored and as it is written out, is looked at before it is
  // read: it may be a megabyte, or more than there is room for.
  private static final String TEXT_IN_PAYLOAD =
      """
      CASE WHEN pg_column_size(payload) > %1$d OR NOT %2$s THEN NULL
           ELSE position(:text::text IN lower(payload::text)) > 0 END
      """
          .formatted(LARGEST_PAYLOAD, JobReader.isShort("payload", LARGEST_PAYLOAD));

  private static final String UNREADABLE = "NULL::boolean";

  private static final String CODE =
      "coalesce(failure ->> 'code' = :code OR failure -> 'cause' ->> 'code' = :code, false)";

  private final List<String> conditions = new ArrayList<>();
  private final Map<String, Object> values = new LinkedHashMap<>();

  private ContentSql() {}

  /**
   * @param payloads whether payloads are read; if not, whether one matches is unknown
   */
  static ContentSql of(Connection connection, JobContent content, boolean payloads)
      throws SQLException {
    ContentSql sql = new ContentSql();
    sql.add(CODE, "code", content.code());
    sql.add(
        "state = 'FAILED' AND %s = :failure".formatted(FailureSql.SIGNATURE),
        "failure",
        content.failure());
    if (payloads) {
      content.payload().forEach(sql::field);
    } else if (!content.payload().isEmpty()) {
      sql.conditions.add(UNREADABLE);
    }
    String text = content.text();
    if (text != null) {
      sql.add(
          Sql.fragment(TEXT, "inPayload", payloads ? TEXT_IN_PAYLOAD : UNREADABLE),
          "text",
          lower(connection, text));
    }
    return sql;
  }

  /** In the database's way, which is not quite Java's. */
  private static String lower(Connection connection, String text) throws SQLException {
    return LOWER.on(connection).set("text", text).only(row -> row.getString("text"));
  }

  private void add(String condition, String name, @Nullable Object value) {
    if (value != null) {
      conditions.add(condition);
      values.put(name, value);
    }
  }

  private void field(JobContent.PayloadField field) {
    String text = "field" + values.size();
    String literal = "literal" + values.size();
    conditions.add(
        """
        CASE WHEN pg_column_size(payload) > %1$d THEN NULL
             ELSE payload @> :%2$s::jsonb OR payload @> :%3$s::jsonb END
        """
            .formatted(LARGEST_PAYLOAD, text, literal));
    JsonNode asText = TextNode.valueOf(field.value());
    values.put(text, nested(field.path(), asText));
    values.put(literal, nested(field.path(), literal(field.value(), asText)));
  }

  /** The value as a number, true, false or null, if it is one. */
  private static JsonNode literal(String value, JsonNode otherwise) {
    try {
      JsonNode read = MAPPER.readTree(value);
      return read != null && read.isValueNode() && !read.isMissingNode() ? read : otherwise;
    } catch (JsonProcessingException text) {
      return otherwise;
    }
  }

  private static String nested(List<String> path, JsonNode value) {
    JsonNode node = value;
    for (String name : path.reversed()) {
      node = JsonNodeFactory.instance.objectNode().set(name, node);
    }
    return node.toString();
  }

  String sql() {
    return conditions.isEmpty() ? "true" : "(" + String.join(") AND (", conditions) + ")";
  }

  Sql.Call bind(Sql.Call call) {
    values.forEach(call::set);
    return call;
  }
}
