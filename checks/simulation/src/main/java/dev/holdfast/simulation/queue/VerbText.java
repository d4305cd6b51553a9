package dev.holdfast.simulation.queue;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.jsontype.NamedType;
import com.fasterxml.jackson.databind.module.SimpleModule;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.simulation.trace.Call;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Verbs as JSON, which another class loader can read, and what is compared of their answers. */
public final class VerbText {
  private static final JsonInclude.Value NOT_NULL =
      JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.NON_NULL);

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .annotationIntrospector(new SealedTypes())
          .defaultPropertyInclusion(NOT_NULL)
          .addMixIn(Report.class, Typed.class)
          .addMixIn(Settlement.class, Typed.class)
          .addMixIn(Wait.class, Typed.class)
          .addMixIn(Failure.class, WithoutStackTrace.class)
          .addModule(
              new SimpleModule()
                  .addSerializer(new Writer<>(Lease.class, VerbText::of))
                  .addDeserializer(Lease.class, new Reader<>(VerbText::lease))
                  .addSerializer(new Writer<>(JobId.class, JobSpec::text))
                  .addDeserializer(JobId.class, new Reader<>(JobSpec::parse))
                  .addSerializer(new Writer<>(Json.class, Json::text))
                  .addDeserializer(Json.class, new Reader<>(Json::new))
                  .addSerializer(new Writer<>(Instant.class, Instant::toString))
                  .addDeserializer(Instant.class, new Reader<>(Instant::parse))
                  .addSerializer(new Writer<>(Duration.class, Duration::toString))
                  .addDeserializer(Duration.class, new Reader<>(Duration::parse)))
          .build();

  private VerbText() {}

  @JsonTypeInfo(use = JsonTypeInfo.Id.SIMPLE_NAME)
  private interface Typed {}

  @JsonIgnoreProperties("stackTrace")
  private interface WithoutStackTrace {}

  private static final class SealedTypes extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1;

    @Override
    public List<NamedType> findSubtypes(Annotated type) {
      return type.getRawType().isSealed()
          ? Stream.of(type.getRawType().getPermittedSubclasses()).map(NamedType::new).toList()
          : List.of();
    }
  }

  private static final class Writer<T> extends JsonSerializer<T> {
    private final Class<T> type;
    private final Function<T, String> text;

    Writer(Class<T> type, Function<T, String> text) {
      this.type = type;
      this.text = text;
    }

    @Override
    public Class<T> handledType() {
      return type;
    }

    @Override
    public void serialize(T value, JsonGenerator to, SerializerProvider provider)
        throws IOException {
      to.writeString(text.apply(value));
    }
  }

  private static final class Reader<T> extends JsonDeserializer<T> {
    private final Function<String, T> value;

    Reader(Function<String, T> value) {
      this.value = value;
    }

    @Override
    public T deserialize(JsonParser from, DeserializationContext context) throws IOException {
      return value.apply(from.getText());
    }
  }

  private static String of(Lease lease) {
    return JobSpec.text(lease.job()) + "#" + lease.attempt();
  }

  private static Lease lease(String text) {
    String[] part = text.split("#", 2);
    return new Lease(JobSpec.parse(part[0]), Integer.parseInt(part[1]));
  }

  /** A call as it is kept. */
  public static Call call(long micros, String by, Verb<?> verb, Object answer) {
    try {
      return new Call(micros, by, JSON.writeValueAsString(verb), of(answer));
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  public static Verb<?> verb(Call call) {
    try {
      return JSON.readValue(call.verb(), Verb.class);
    } catch (JsonProcessingException malformed) {
      throw new IllegalStateException(malformed);
    }
  }

  /** What is compared of an answer; empty when there is nothing in it. */
  public static String of(Object answer) {
    return switch (answer) {
      case Verb.Done done -> "";
      case Enqueued job -> JobSpec.text(job.id()) + (job.duplicate() ? " duplicate" : "");
      case Claimed claimed -> of(claimed.jobs()) + (claimed.whenEmpty() ? " when empty" : "");
      case LeasedJob job -> of(job.lease());
      case Lease lease -> of(lease);
      case HeartbeatResult result ->
          of(result.lease())
              + (result.ack() == Ack.ACCEPTED ? "" : " lost")
              + (result.cancelReason() == null ? "" : " cancelled");
      case StepStatus step ->
          step.id()
              + " "
              + step.state()
              + " "
              + step.attempt()
              + (step.waitEnd() == null ? "" : " " + step.waitEnd().outcome());
      case PublishedArtifact each -> each.artifact().name() + " of " + each.attempt();
      case Cancellation each -> each.previousState() + " " + each.outcome();
      case JobId id -> JobSpec.text(id);
      case WaitAnswer.Over(var end, var payload) ->
          "over " + end.outcome() + (end.outcome() == WaitEnd.Outcome.SIGNAL ? " " + payload : "");
      case ChildEnd each -> JobSpec.text(each.job()) + " " + each.state();
      case RefusedException refused -> "refuses " + refused.refusal();
      case Map<?, ?> map -> new TreeMap<>(map).toString();
      case Collection<?> all -> {
        Stream<String> texts = all.stream().map(VerbText::of);
        yield (all.stream().allMatch(VerbText::isOrdered) ? texts : texts.sorted())
            .collect(Collectors.joining(","));
      }
      default -> answer.toString();
    };
  }

  private static boolean isOrdered(Object answer) {
    return answer instanceof Ack
        || answer instanceof LeasedJob
        || answer instanceof StepStatus
        || answer instanceof ChildEnd;
  }
}
