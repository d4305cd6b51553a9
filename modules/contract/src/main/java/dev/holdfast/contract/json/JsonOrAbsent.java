package dev.holdfast.contract.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import dev.holdfast.model.value.Json;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** For fields whose null is a value, and not the same as no value. */
public final class JsonOrAbsent extends JsonDeserializer<Json> {
  private static final Json NULL = new Json("null");

  @Override
  public Json deserialize(JsonParser from, DeserializationContext context) throws IOException {
    return context.readValue(from, Json.class);
  }

  @Override
  public Json getNullValue(DeserializationContext context) {
    return NULL;
  }

  @Override
  public @Nullable Object getAbsentValue(DeserializationContext context) {
    return null;
  }
}
