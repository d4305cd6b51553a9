package dev.holdfast.simulation.queue;

import com.fasterxml.jackson.annotation.JsonRawValue;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;

/** Writes equal values as equal texts in every run. */
public final class PlainCodec implements Codec {
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
          .addMixIn(Json.class, AsItIs.class)
          .build();

  private interface AsItIs {
    @JsonValue
    @JsonRawValue
    String text();
  }

  @Override
  public Json encode(Object value) {
    try {
      return new Json(JSON.writeValueAsString(value));
    } catch (JsonProcessingException unfit) {
      throw new IllegalArgumentException(unfit);
    }
  }

  @Override
  public <T> T decode(Json json, Class<T> type) {
    try {
      return JSON.readValue(json.text(), type);
    } catch (JsonProcessingException malformed) {
      throw new IllegalArgumentException(malformed);
    }
  }
}
