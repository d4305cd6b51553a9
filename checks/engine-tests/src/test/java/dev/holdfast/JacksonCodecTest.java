package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import kotlin.Pair;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JacksonCodecTest {
  enum Colour {
    RED
  }

  record Part(String name, Colour colour) {}

  record Whole(int count, List<Part> parts, @Nullable String note) {
    Whole {
      if (count < 0) {
        throw new IllegalArgumentException("count is negative");
      }
    }
  }

  private final JacksonCodec codec = new JacksonCodec();

  private <T> void assertMismatch(String json, Class<T> type, String part) {
    assertThatThrownBy(() -> codec.decode(new Json(json), type))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.refusal()).isEqualTo(Refusal.PAYLOAD_MISMATCH))
        .hasMessageContaining(part);
  }

  @Test
  void records_round_trip() {
    Whole whole = new Whole(2, List.of(new Part("a", Colour.RED)), null);
    assertThat(codec.decode(codec.encode(whole), Whole.class)).isEqualTo(whole);
  }

  record Parts(JobId whole, List<JobId> parts) {}

  @Test
  void job_ids_are_text() {
    Parts parts = new Parts(JobId.next(), List.of(JobId.next()));
    Json json = codec.encode(parts);
    assertThat(json.text())
        .isEqualTo(
            "{\"whole\":\"%s\",\"parts\":[\"%s\"]}"
                .formatted(parts.whole(), parts.parts().getFirst()));
    assertThat(codec.decode(json, Parts.class)).isEqualTo(parts);
    assertMismatch("{\"whole\": \"seven\"}", Parts.class, "seven");
  }

  /** Two of them come with Kotlin, so that none has to be compiled here. */
  @Test
  void kotlin_data_classes_round_trip_with_the_kotlin_module_on_the_class_path() {
    Pair<Part, Integer> pair = new Pair<>(new Part("a", Colour.RED), 2);
    Json json = codec.encode(pair);
    assertThat(json.text())
        .isEqualTo("{\"first\":{\"name\":\"a\",\"colour\":\"RED\"},\"second\":2}");
    assertThat(codec.decode(json, new PayloadType<Pair<Part, Integer>>() {})).isEqualTo(pair);
    assertMismatch("{\"first\": 1}", Pair.class, "second");
  }

  @Test
  void json_is_passed_through_unchanged() {
    Json odd = new Json("not even json");
    assertThat(codec.encode(odd)).isSameAs(odd);
    assertThat(codec.decode(odd, Json.class)).isSameAs(odd);
  }

  @Test
  void strings_numbers_and_maps_are_payloads_too() {
    assertThat(codec.decode(codec.encode("text ☕"), String.class)).isEqualTo("text ☕");
    assertThat(codec.decode(codec.encode(42), Integer.class)).isEqualTo(42);
    assertThat(codec.decode(codec.encode(Map.of("a", 1)), Object.class)).isEqualTo(Map.of("a", 1));
    assertThat(codec.tree(new Json("{\"a\": [1, 2]}")).at("/a/1").asInt()).isEqualTo(2);
  }

  @Test
  void unknown_fields_are_ignored() {
    assertThat(codec.decode(new Json("{\"count\": 1, \"new\": true}"), Whole.class).count())
        .isEqualTo(1);
  }

  @Test
  void a_mismatch_is_refused_with_its_reason() {
    assertMismatch("{\"count\": \"many\"}", Whole.class, "the payload is no Whole");
    assertMismatch("{\"count\": null}", Whole.class, "null");
    assertMismatch("{\"count\": -1}", Whole.class, "count is negative");
    assertMismatch("null", Whole.class, "it is null");
    assertMismatch("[]", Whole.class, "Whole");
    assertMismatch("3", String.class, "not a JSON string");
    assertMismatch("{} {}", Whole.class, "");
    assertMismatch("{\"parts\": [{\"colour\": \"GREEN\"}]}", Whole.class, "GREEN");
  }

  @Test
  void invalid_json_is_refused() {
    List<Object> endless = new ArrayList<>();
    endless.add(endless);
    for (Object value : List.of(new Object(), endless)) {
      assertThatThrownBy(() -> codec.encode(value))
          .isInstanceOfSatisfying(
              RefusedException.class,
              refused -> assertThat(refused.refusal()).isEqualTo(Refusal.PAYLOAD_NOT_JSON));
    }
  }

  @Test
  void the_mapper_can_be_replaced() {
    JacksonCodec snakes =
        new JacksonCodec(
            JsonMapper.builder()
                .propertyNamingStrategy(PropertyNamingStrategies.UPPER_CAMEL_CASE)
                .build());
    assertThat(snakes.encode(new Part("a", Colour.RED)).text()).contains("\"Name\"");
  }

  record Trip(OffsetDateTime leaves, ZonedDateTime arrives, ZonedDateTime utc, LocalDate booked) {}

  @Test
  void times_keep_their_zone_and_offset() {
    Trip trip =
        new Trip(
            OffsetDateTime.parse("2026-03-01T08:00:00+05:30"),
            ZonedDateTime.parse("2026-03-01T12:00:00+01:00[Europe/Berlin]"),
            ZonedDateTime.parse("2026-03-01T12:00:00Z[UTC]"),
            LocalDate.parse("2026-02-01"));
    assertThat(codec.decode(codec.encode(trip), Trip.class)).isEqualTo(trip);
  }

  record Address(Optional<String> street, OptionalInt number) {}

  @Test
  void missing_fields_may_be_optional() {
    Address full = new Address(Optional.of("Main St"), OptionalInt.of(7));
    assertThat(codec.encode(full).text()).isEqualTo("{\"street\":\"Main St\",\"number\":7}");
    assertThat(codec.decode(codec.encode(full), Address.class)).isEqualTo(full);
    Address empty = new Address(Optional.empty(), OptionalInt.empty());
    assertThat(codec.decode(codec.encode(empty), Address.class)).isEqualTo(empty);
    assertThat(codec.decode(new Json("{}"), Address.class)).isEqualTo(empty);
  }

  @Test
  void parameterized_types_round_trip() {
    Map<String, List<Part>> parts = Map.of("a", List.of(new Part("b", Colour.RED)));
    assertThat(codec.decode(codec.encode(parts), new PayloadType<Map<String, List<Part>>>() {}))
        .isEqualTo(parts);
    assertThat(codec.decode(new Json("{}"), PayloadType.of(Json.class)).text()).isEqualTo("{}");
    assertThatThrownBy(() -> codec.decode(new Json("[7]"), new PayloadType<List<Part>>() {}))
        .hasMessageContaining("the payload is no java.util.List<")
        .hasMessageContaining("Part>");
  }

  @Test
  void a_codec_for_classes_only_refuses_parameterized_types() {
    Codec simple =
        new Codec() {
          @Override
          public Json encode(Object value) {
            return codec.encode(value);
          }

          @Override
          public <T> T decode(Json json, Class<T> type) {
            return codec.decode(json, type);
          }
        };
    assertThat(simple.decode(new Json("7"), PayloadType.of(Integer.class))).isEqualTo(7);
    assertThatThrownBy(() -> simple.decode(new Json("[]"), new PayloadType<List<Part>>() {}))
        .hasMessageContaining("it knows classes only");
  }

  record Appointment(Instant at, Duration length) {}

  @Test
  void times_round_trip_as_iso_text() {
    Appointment appointment =
        new Appointment(Instant.parse("2026-01-02T03:04:05Z"), Duration.ofMinutes(90));
    JacksonCodec codec = new JacksonCodec();
    assertThat(codec.encode(appointment).text())
        .isEqualTo("{\"at\":\"2026-01-02T03:04:05Z\",\"length\":\"PT1H30M\"}");
    assertThat(codec.decode(codec.encode(appointment), Appointment.class)).isEqualTo(appointment);
  }
}
