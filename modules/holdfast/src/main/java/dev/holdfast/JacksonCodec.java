package dev.holdfast;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.Module;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.deser.std.FromStringDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeFeature;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Records to JSON and back, by Jackson. Fields a handler does not know yet are passed over. */
public final class JacksonCodec implements Codec {
  private static final String KOTLIN = "com.fasterxml.jackson.module.kotlin.KotlinModule";

  private final ObjectMapper mapper;
  private final Map<Type, ObjectReader> readers = new ConcurrentHashMap<>();

  /** With a mapper of its own, which takes records and {@code java.time}. */
  public JacksonCodec() {
    this(
        // Jackson keeps its buffers by thread; handlers' threads are new for every job.
        JsonMapper.builder(
                JsonFactory.builder()
                    .recyclerPool(JsonRecyclerPools.newConcurrentDequePool())
                    .build())
            // A time comes back with the zone or the offset it was given.
            .addModule(new JavaTimeModule().disable(JavaTimeFeature.NORMALIZE_DESERIALIZED_ZONE_ID))
            .addModule(new Jdk8Module())
            .addModule(forIds())
            .addModules(forKotlin())
            .enable(SerializationFeature.WRITE_DATES_WITH_ZONE_ID)
            .disable(DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
            .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
            .disable(SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build());
  }

  /** With a mapper of yours. What is stored outlives its settings. */
  public JacksonCodec(ObjectMapper mapper) {
    this.mapper = mapper;
  }

  /** An id is text, as it is everywhere else, and not an object with a value. */
  private static Module forIds() {
    return new SimpleModule()
        .addSerializer(JobId.class, ToStringSerializer.instance)
        .addDeserializer(
            JobId.class,
            new FromStringDeserializer<>(JobId.class) {
              @Override
              protected JobId _deserialize(String text, DeserializationContext context) {
                return new JobId(UUID.fromString(text));
              }
            });
  }

  /** If it is there. Others that are might change how payloads look that are stored already. */
  private static List<Module> forKotlin() {
    return ServiceLoader.load(Module.class, JacksonCodec.class.getClassLoader()).stream()
        .filter(module -> module.type().getName().equals(KOTLIN))
        .map(ServiceLoader.Provider::get)
        .toList();
  }

  @Override
  public Json encode(Object value) {
    if (value instanceof Json json) {
      return json;
    }
    try {
      return new Json(mapper.writeValueAsString(value));
    } catch (JsonProcessingException e) {
      throw new RefusedException(
          Refusal.PAYLOAD_NOT_JSON,
          value.getClass().getName() + " cannot be turned into JSON: " + first(e));
    }
  }

  @Override
  public <T> T decode(Json json, Class<T> type) {
    return type == Json.class ? type.cast(json) : decode(json, PayloadType.of(type));
  }

  @Override
  @SuppressWarnings("unchecked") // The type of JSON as it is.
  public <T> T decode(Json json, PayloadType<T> type) {
    if (type.type() == Json.class) {
      return (T) json;
    }
    if (type.type() == String.class && !json.text().startsWith("\"")) {
      throw mismatch(type, "it is not a JSON string");
    }
    try {
      T value = reader(type.type()).readValue(json.text());
      if (value == null) {
        throw mismatch(type, "it is null");
      }
      return value;
    } catch (JsonProcessingException e) {
      throw mismatch(type, first(e));
    }
  }

  /** Made once for each type: a worker reads payloads of a few types, again and again. */
  private ObjectReader reader(Type type) {
    ObjectReader known = readers.get(type);
    return known != null
        ? known
        : readers.computeIfAbsent(type, made -> mapper.readerFor(mapper.constructType(made)));
  }

  /** For callers that read a payload as a tree. */
  public JsonNode tree(Json json) {
    return decode(json, JsonNode.class);
  }

  private static RefusedException mismatch(PayloadType<?> type, String why) {
    return new RefusedException(Refusal.PAYLOAD_MISMATCH, "the payload is no " + type + ": " + why);
  }

  /** Where in the value, and what. */
  private static String first(JsonProcessingException error) {
    String where =
        error instanceof JsonMappingException mapping
            ? mapping.getPath().stream()
                .map(
                    at ->
                        at.getFieldName() == null
                            ? "[" + at.getIndex() + "]"
                            : "'" + at.getFieldName() + "'")
                .collect(Collectors.joining(" "))
            : "";
    return Text.excerpt(
        (where.isEmpty() ? "" : "at " + where + ": ") + error.getOriginalMessage(), 300);
  }
}
