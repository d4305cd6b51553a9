package dev.holdfast.worker.steps;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;

/** As the library has it. */
public final class TestCodec {
  public static final Codec CODEC =
      new Codec() {
        private final ObjectMapper mapper =
            JsonMapper.builder()
                .addModule(new JavaTimeModule())
                .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
                .build();

        @Override
        public Json encode(Object value) {
          try {
            return new Json(mapper.writeValueAsString(value));
          } catch (JsonProcessingException impossible) {
            throw new AssertionError(impossible);
          }
        }

        @Override
        public <T> T decode(Json json, Class<T> type) {
          try {
            return mapper.readValue(json.text(), type);
          } catch (JsonProcessingException damaged) {
            throw new RefusedException(Refusal.PAYLOAD_MISMATCH, damaged.getOriginalMessage());
          }
        }
      };

  private TestCodec() {}
}
