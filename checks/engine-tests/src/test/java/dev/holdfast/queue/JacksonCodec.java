package dev.holdfast.queue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;

/** A codec as plain as the tests need it. */
public final class JacksonCodec implements Codec {
  private final ObjectMapper mapper = new ObjectMapper();

  @Override
  public Json encode(Object value) {
    try {
      return value instanceof Json json ? json : new Json(mapper.writeValueAsString(value));
    } catch (JsonProcessingException unwritable) {
      throw new RefusedException(Refusal.PAYLOAD_NOT_JSON, String.valueOf(unwritable.getMessage()));
    }
  }

  @Override
  public <T> T decode(Json json, Class<T> type) {
    try {
      return mapper.readValue(json.text(), type);
    } catch (JsonProcessingException mismatch) {
      throw new RefusedException(Refusal.PAYLOAD_MISMATCH, String.valueOf(mismatch.getMessage()));
    }
  }
}
