package dev.holdfast.contract.json;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.NumberDeserializers;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.AccessPattern;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Question;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** How values of the model that are neither records nor enums are written and read. */
final class WireTypes {
  private static final long LAST_SECOND = 253_402_300_799L;

  private WireTypes() {}

  static SimpleModule module() {
    SimpleModule types = new SimpleModule();
    types.addSerializer(Json.class, new JsonWriter());
    types.addDeserializer(Json.class, new JsonReader());
    types.addSerializer(Instant.class, new TextWriter<>(Instant.class));
    types.addDeserializer(Instant.class, new InstantReader());
    types.addSerializer(JobId.class, new TextWriter<>(JobId.class));
    types.addDeserializer(JobId.class, new JobIdReader());
    types.addSerializer(JobCursor.class, new TextWriter<>(JobCursor.class));
    types.addDeserializer(JobCursor.class, new JobCursorReader());
    text(types, CommandAction.class, CommandAction::text, CommandAction::of);
    text(types, HealthStatus.class, HealthStatus::text, HealthStatus::of);
    text(types, LogCursor.class, LogCursor::toString, LogCursor::parse);
    text(types, Role.class, Role::word, Role::of);
    text(types, Question.Decider.class, Question.Decider::word, Question.Decider::of);
    text(types, WorkerCommand.Action.class, WorkerCommand.Action::text, WorkerCommand.Action::of);
    types.addSerializer(Duration.class, new MillisWriter());
    types.addDeserializer(Duration.class, new MillisReader());
    types.addDeserializer(int.class, wholeInt(int.class, 0));
    types.addDeserializer(Integer.class, wholeInt(Integer.class, null));
    types.addDeserializer(long.class, wholeLong(long.class, 0L));
    types.addDeserializer(Long.class, wholeLong(Long.class, null));
    return types;
  }

  private static <T> void text(
      SimpleModule types, Class<T> type, Function<T, String> write, Function<String, T> read) {
    types.addSerializer(
        type,
        new JsonSerializer<T>() {
          @Override
          public void serialize(T value, JsonGenerator to, SerializerProvider provider)
              throws IOException {
            to.writeString(write.apply(value));
          }
        });
    types.addDeserializer(
        type,
        new JsonDeserializer<T>() {
          @Override
          public T deserialize(JsonParser from, DeserializationContext context) throws IOException {
            if (from.currentToken() != JsonToken.VALUE_STRING) {
              throw MismatchedInputException.from(from, type, "not a text");
            }
            return read.apply(from.getText());
          }
        });
  }

  /** Spans of time are numbers of milliseconds. */
  private static final class MillisWriter extends JsonSerializer<Duration> {
    @Override
    public void serialize(Duration value, JsonGenerator to, SerializerProvider provider)
        throws IOException {
      to.writeNumber(value.toMillis());
    }
  }

  private static final class MillisReader extends JsonDeserializer<Duration> {
    private final JsonDeserializer<Long> whole = wholeLong(long.class, 0L);

    @Override
    public Duration deserialize(JsonParser from, DeserializationContext context)
        throws IOException {
      return Duration.ofMillis(whole.deserialize(from, context));
    }
  }

  /** JSON from the database, which may be nested deeper than what can be sent. */
  static final class StoredJson extends JsonSerializer<Json> {
    @Override
    public void serialize(Json value, JsonGenerator to, SerializerProvider provider)
        throws IOException {
      to.writeTree(Wire.tree(value));
    }
  }

  /** What was left out of a job is absent and named; what it does not have is null. */
  static final class ContentWriter extends JsonSerializer<JobStatus.Content> {
    @Override
    public void serialize(JobStatus.Content value, JsonGenerator to, SerializerProvider provider)
        throws IOException {
      List<String> omitted = value.omitted();
      if (!omitted.contains(JobStatus.PAYLOAD)) {
        provider.defaultSerializeField("payload", Wire.treeOrNullNode(value.payload()), to);
      }
      if (!omitted.contains(JobStatus.RESULT)) {
        provider.defaultSerializeField("result", Wire.treeOrNullNode(value.result()), to);
      }
      JsonNode failure = ((ObjectMapper) to.getCodec()).valueToTree(value.failure());
      if (omitted.contains(JobStatus.STACK_TRACE) && failure instanceof ObjectNode some) {
        some.remove("stackTrace");
      }
      provider.defaultSerializeField("failure", failure, to);
      if (!omitted.isEmpty()) {
        provider.defaultSerializeField("omitted", omitted, to);
      }
    }

    @Override
    public boolean isUnwrappingSerializer() {
      return true;
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
      OneSpelling.enterDocument(from);
      JsonNode tree = context.readTree(from);
      OneSpelling.leaveDocument(from);
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

  private static final class JobCursorReader extends JsonDeserializer<JobCursor> {
    @Override
    public JobCursor deserialize(JsonParser from, DeserializationContext context)
        throws IOException {
      if (from.currentToken() != JsonToken.VALUE_STRING) {
        throw MismatchedInputException.from(from, JobCursor.class, "not a cursor");
      }
      return JobCursor.parse(from.getText());
    }
  }

  private static JsonDeserializer<Integer> wholeInt(Class<Integer> type, @Nullable Integer none) {
    return new WholeNumberReader<>(
        new NumberDeserializers.IntegerDeserializer(type, none), BigDecimal::intValueExact);
  }

  private static JsonDeserializer<Long> wholeLong(Class<Long> type, @Nullable Long none) {
    return new WholeNumberReader<>(
        new NumberDeserializers.LongDeserializer(type, none), BigDecimal::longValueExact);
  }

  /** Takes 10.0 and 1e1 as well as 10: to JSON Schema they are integers. */
  private static final class WholeNumberReader<N> extends JsonDeserializer<N> {
    private static final int MAX_DIGITS = 19;

    private final JsonDeserializer<N> digits;
    private final Function<BigDecimal, N> exact;

    WholeNumberReader(JsonDeserializer<N> digits, Function<BigDecimal, N> exact) {
      this.digits = digits;
      this.exact = exact;
    }

    @Override
    public N deserialize(JsonParser from, DeserializationContext context) throws IOException {
      if (from.currentToken() == JsonToken.VALUE_NUMBER_FLOAT) {
        BigDecimal number = from.getDecimalValue();
        if (number.precision() - number.scale() <= MAX_DIGITS) {
          try {
            return exact.apply(number);
          } catch (ArithmeticException notOne) {
            // said below
          }
        }
      }
      return digits.deserialize(from, context);
    }

    @Override
    public @Nullable N getNullValue(DeserializationContext context) throws JsonMappingException {
      return digits.getNullValue(context);
    }

    @Override
    public AccessPattern getNullAccessPattern() {
      return digits.getNullAccessPattern();
    }
  }
}
