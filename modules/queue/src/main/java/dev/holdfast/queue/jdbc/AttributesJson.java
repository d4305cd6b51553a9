package dev.holdfast.queue.jdbc;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.enqueue.Enqueue;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What jobs bring along besides the payload, as stored in the database; most have none. */
public final class AttributesJson {
  private static final String ASSET_ID = "assetId";
  private static final String PARTITION_KEY = "partitionKey";
  private static final String RESOURCES = "resources";

  /** Named in {@link Enqueue} too: it does not make a job another one. */
  private static final String TRACEPARENT = "traceparent";

  private static final String TAGS = "tags";

  // Numbers keep their digits.
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private AttributesJson() {}

  /** Of a job whose resources are JSON by now; null when it brings nothing. */
  public static @Nullable String of(Job job) {
    if (!job.hasAttributes()) {
      return null;
    }
    ObjectNode node = MAPPER.createObjectNode();
    put(node, ASSET_ID, job.assetId());
    put(node, PARTITION_KEY, job.partitionKey());
    put(node, TRACEPARENT, job.traceparent());
    if (!job.tags().isEmpty()) {
      job.tags().forEach(node.putArray(TAGS)::add);
    }
    if (job.resources() instanceof Json resources) {
      node.putRawValue(RESOURCES, new RawValue(checked(resources)));
    }
    return node.toString();
  }

  private static void put(ObjectNode node, String field, @Nullable String value) {
    if (value != null) {
      node.put(field, value);
    }
  }

  /** It becomes a part of a document, and nothing but a part of it. */
  private static String checked(Json resources) {
    try {
      JsonNode unused = MAPPER.readTree(resources.text());
      return resources.text();
    } catch (JsonProcessingException malformed) {
      throw new RefusedException(Refusal.BAD_RESOURCES, "resources are not JSON");
    }
  }

  public static JobAttributes read(@Nullable String json) {
    if (json == null) {
      return JobAttributes.NONE;
    }
    try {
      JsonNode node = MAPPER.readTree(json);
      JsonNode resources = node.get(RESOURCES);
      return new JobAttributes(
          textOrNull(node, ASSET_ID),
          textOrNull(node, PARTITION_KEY),
          resources == null ? Json.EMPTY : new Json(resources.toString()),
          textOrNull(node, TRACEPARENT),
          texts(node.path(TAGS)));
    } catch (JsonProcessingException corrupt) {
      throw new IllegalStateException("stored attributes are not readable: " + json, corrupt);
    }
  }

  private static List<String> texts(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(each -> texts.add(each.asText()));
    return texts;
  }

  /** A document that the tags of a job contain which has this one. */
  static String withTag(String tag) {
    return MAPPER.createArrayNode().add(tag).toString();
  }

  private static @Nullable String textOrNull(JsonNode node, String field) {
    JsonNode value = node.get(field);
    return value == null ? null : value.asText();
  }
}
