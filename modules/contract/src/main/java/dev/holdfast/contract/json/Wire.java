package dev.holdfast.contract.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.PropertyName;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.AnnotatedField;
import com.fasterxml.jackson.databind.introspect.AnnotatedParameter;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.databind.type.LogicalType;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.RefusedException;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How everything is written on the wire. Names are camelCase; a reader takes snake_case as well.
 * Nothing is guessed: a text is no number, a number no date, and a field nobody knows is refused,
 * except in what workers call back with.
 */
public final class Wire {
  /** A payload and what stands around it. */
  private static final int STRING_CHARS = 2 << 20;

  private static final int DEPTH = 200;
  private static final long LAST_SECOND = 253_402_300_799L;

  private static final JsonMapper MAPPER =
      mapper(
          StreamReadConstraints.builder()
              .maxNestingDepth(DEPTH)
              .maxStringLength(STRING_CHARS)
              .maxNumberLength(400)
              .maxNameLength(1_000)
              .build());

  private static final ObjectReader KNOWN =
      MAPPER.reader().without(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  /** For what a server of ours sends, which was bounded when it came in. */
  private static final ObjectReader ANSWERS =
      mapper(
              StreamReadConstraints.builder()
                  .maxNestingDepth(10 * 1_000)
                  .maxStringLength(64 << 20)
                  .maxNumberLength(200 * 1_000)
                  .maxNameLength(2 << 20)
                  .build())
          .reader()
          // A server may be newer than its workers, and say more.
          .without(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  /** For what the database holds: nothing in it is refused, as long as it can be written again. */
  private static final JsonMapper STORED =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(900)
                          .maxNumberLength(1 << 18)
                          .maxNameLength(STRING_CHARS)
                          .build())
                  .build())
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private Wire() {}

  private static JsonMapper mapper(StreamReadConstraints constraints) {
    JsonFactory factory =
        JsonFactory.builder()
            .streamReadConstraints(constraints)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();
    SimpleModule types = new SimpleModule();
    types.addSerializer(Json.class, new JsonWriter());
    types.addDeserializer(Json.class, new JsonReader());
    types.addSerializer(Instant.class, new TextWriter<>(Instant.class));
    types.addDeserializer(Instant.class, new InstantReader());
    types.addSerializer(JobId.class, new TextWriter<>(JobId.class));
    types.addDeserializer(JobId.class, new JobIdReader());
    JsonMapper.Builder builder =
        JsonMapper.builder(factory)
            .addModule(types)
            .annotationIntrospector(new SnakeCaseToo())
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            // Digits are kept as they came: 1.10 is not 1.1 to whoever wrote it.
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .defaultPropertyInclusion(
                com.fasterxml.jackson.annotation.JsonInclude.Value.construct(
                    com.fasterxml.jackson.annotation.JsonInclude.Include.NON_NULL,
                    com.fasterxml.jackson.annotation.JsonInclude.Include.ALWAYS));
    for (CoercionInputShape shape :
        List.of(CoercionInputShape.Boolean, CoercionInputShape.Integer, CoercionInputShape.Float)) {
      builder.withCoercionConfig(
          LogicalType.Textual, config -> config.setCoercion(shape, CoercionAction.Fail));
    }
    return builder.build();
  }

  public static <T> T read(byte[] json, Class<T> type) {
    try {
      T value = MAPPER.readValue(json, type);
      if (value == null) {
        throw new WireException(WireException.Kind.WRONG_VALUE, "an object is expected, not null");
      }
      return value;
    } catch (IOException trouble) {
      throw explained(trouble);
    }
  }

  /**
   * What a worker calls back with. It may be newer than the server, and send more: what is not
   * known here is passed over, what is known must still be right.
   */
  public static <T> T readKnown(byte[] json, Class<T> type) {
    try {
      T value = KNOWN.forType(type).readValue(json);
      if (value == null) {
        throw new WireException(WireException.Kind.WRONG_VALUE, "an object is expected, not null");
      }
      return value;
    } catch (IOException trouble) {
      throw explained(trouble);
    }
  }

  /** What a server answered, as its client reads it. */
  public static <T> T answer(byte[] json, Class<T> type) throws IOException {
    T value = ANSWERS.forType(type).readValue(json);
    if (value == null) {
      throw new IOException("the answer is null");
    }
    return value;
  }

  public static <T> T read(JsonNode json, Class<T> type) {
    try {
      return MAPPER.treeToValue(json, type);
    } catch (IOException trouble) {
      throw explained(trouble);
    }
  }

  public static JsonNode tree(byte[] json) {
    try {
      return MAPPER.readTree(json);
    } catch (IOException trouble) {
      throw explained(trouble);
    }
  }

  /** JSON that was stored; what is nested beyond all measure is given as text. */
  public static @Nullable JsonNode tree(@Nullable Json json) {
    try {
      return json == null ? null : STORED.readTree(json.text());
    } catch (JsonProcessingException beyond) {
      return TextNode.valueOf(json.text());
    }
  }

  /** Whether the JSON is an object with this field, without reading what is in it. */
  public static boolean hasField(byte[] json, String field) {
    try (JsonParser parser = MAPPER.getFactory().createParser(json)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return false;
      }
      String name;
      while ((name = parser.nextFieldName()) != null) {
        if (name.equals(field)) {
          return true;
        }
        parser.nextToken();
        parser.skipChildren();
      }
      return false;
    } catch (IOException trouble) {
      throw explained(trouble);
    }
  }

  public static byte[] write(Object value) {
    try {
      return MAPPER.writeValueAsBytes(value);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  public static String text(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  public static <T> T present(String field, @Nullable T value) {
    if (value == null) {
      throw new WireException(WireException.Kind.MISSING_FIELD, "field '" + field + "' is missing");
    }
    return value;
  }

  /** Says what is wrong in our words: a parser's own would show how we are built. */
  private static RuntimeException explained(IOException trouble) {
    return switch (trouble) {
      case UnrecognizedPropertyException unknown ->
          new WireException(
              WireException.Kind.UNKNOWN_FIELD,
              "field '%s' is unknown%s".formatted(excerpt(path(unknown)), known(unknown)),
              unknown);
      case StreamConstraintsException large ->
          new WireException(
              WireException.Kind.TOO_LARGE,
              "the JSON is nested too deep, or has a text, a name or a number that is too long",
              large);
      case MismatchedInputException wrong when ours(wrong) != null -> own(ours(wrong));
      case JsonMappingException wrong when ours(wrong) != null -> own(ours(wrong));
      case JsonMappingException wrong
          when wrong.getCause() instanceof IOException cause
              && !(cause instanceof InputCoercionException) ->
          explained(cause);
      case JsonMappingException wrong ->
          new WireException(
              WireException.Kind.WRONG_VALUE,
              path(wrong).isEmpty()
                  ? "an object of the documented form is expected"
                  : "field '%s' has a value of the wrong type or out of range"
                      .formatted(excerpt(path(wrong))),
              wrong);
      case InputCoercionException large ->
          new WireException(WireException.Kind.WRONG_VALUE, "a number is out of range", large);
      case JsonProcessingException wrong when wrong.getLocation() != null ->
          new WireException(
              WireException.Kind.MALFORMED,
              "the body %s: line %d, column %d"
                  .formatted(
                      repeats(wrong) ? "names a field twice" : "is not JSON",
                      wrong.getLocation().getLineNr(),
                      wrong.getLocation().getColumnNr()),
              wrong);
      default -> new WireException(WireException.Kind.MALFORMED, "the body is not JSON", trouble);
    };
  }

  private static boolean repeats(JsonProcessingException wrong) {
    return wrong.getOriginalMessage().startsWith("Duplicate field");
  }

  /** What a record of ours had to say about its fields. */
  private static @Nullable RuntimeException ours(Throwable wrong) {
    for (Throwable cause = wrong; cause != null; cause = cause.getCause()) {
      if (cause instanceof WireException || cause instanceof RefusedException) {
        return (RuntimeException) cause;
      }
    }
    return null;
  }

  private static RuntimeException own(@Nullable RuntimeException thrown) {
    return thrown == null ? new IllegalStateException() : thrown;
  }

  private static String path(JsonMappingException wrong) {
    return wrong.getPath().stream()
        .map(at -> at.getFieldName() == null ? "[" + at.getIndex() + "]" : at.getFieldName())
        .collect(Collectors.joining("."));
  }

  private static String known(UnrecognizedPropertyException unknown) {
    return unknown.getKnownPropertyIds() == null
        ? ""
        : ": known are "
            + unknown.getKnownPropertyIds().stream()
                .map(String::valueOf)
                .filter(name -> name.indexOf('_') < 0)
                .sorted()
                .collect(Collectors.joining(", "));
  }

  private static String excerpt(String name) {
    String clean = name.replaceAll("\\p{Cntrl}", "?");
    return clean.length() <= 100 ? clean : clean.substring(0, 100) + "...";
  }

  /** Every field is also known by its name in snake_case. */
  private static final class SnakeCaseToo extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1L;

    @Override
    public @Nullable List<PropertyName> findPropertyAliases(Annotated annotated) {
      String name = name(annotated);
      if (name != null) {
        String snake = name.replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
        if (!snake.equals(name)) {
          return List.of(PropertyName.construct(snake));
        }
      }
      return super.findPropertyAliases(annotated);
    }

    /** A record is read through the parameters of its constructor, which are its components. */
    private static @Nullable String name(Annotated annotated) {
      return switch (annotated) {
        case AnnotatedField field -> field.getName();
        case AnnotatedParameter parameter when parameter.getDeclaringClass().isRecord() ->
            parameter.getDeclaringClass().getRecordComponents()[parameter.getIndex()].getName();
        default -> null;
      };
    }
  }

  /** JSON inside JSON, as it is. */
  private static final class JsonWriter extends JsonSerializer<Json> {
    @Override
    public void serialize(Json value, JsonGenerator to, SerializerProvider provider)
        throws IOException {
      to.writeRawValue(value.text());
    }
  }

  private static final class JsonReader extends JsonDeserializer<Json> {
    @Override
    public Json deserialize(JsonParser from, DeserializationContext context) throws IOException {
      JsonNode tree = context.readTree(from);
      return new Json(tree.toString());
    }
  }

  private static final class TextWriter<T> extends JsonSerializer<T> {
    private final Class<T> type;

    TextWriter(Class<T> type) {
      this.type = type;
    }

    @Override
    public Class<T> handledType() {
      return type;
    }

    @Override
    public void serialize(T value, JsonGenerator to, SerializerProvider provider)
        throws IOException {
      to.writeString(value.toString());
    }
  }

  private static final class InstantReader extends JsonDeserializer<Instant> {
    @Override
    public Instant deserialize(JsonParser from, DeserializationContext context) throws IOException {
      if (from.currentToken() != JsonToken.VALUE_STRING) {
        throw MismatchedInputException.from(from, Instant.class, "not a date");
      }
      try {
        Instant instant = OffsetDateTime.parse(from.getText()).toInstant();
        if (instant.getEpochSecond() >= 0 && instant.getEpochSecond() <= LAST_SECOND) {
          return instant;
        }
      } catch (DateTimeException notOne) {
        // said below
      }
      throw MismatchedInputException.from(from, Instant.class, "not a date");
    }
  }

  private static final class JobIdReader extends JsonDeserializer<JobId> {
    @Override
    public JobId deserialize(JsonParser from, DeserializationContext context) throws IOException {
      if (from.currentToken() != JsonToken.VALUE_STRING) {
        throw MismatchedInputException.from(from, JobId.class, "not an id");
      }
      return JobId.parse(from.getText());
    }
  }
}
