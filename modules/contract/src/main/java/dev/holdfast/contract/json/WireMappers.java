package dev.holdfast.contract.json;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.type.LogicalType;
import java.util.List;

/** The configuration of Jackson for requests, answers and stored JSON. */
final class WireMappers {
  /** A payload and the fields around it. */
  private static final int STRING_CHARS = 2 << 20;

  private static final int DEPTH = 200;

  private WireMappers() {}

  /** For requests, whose size and depth have limits. Writes requests and answers. */
  static JsonMapper requests() {
    return mapper(
        StreamReadConstraints.builder()
            .maxNestingDepth(DEPTH)
            .maxStringLength(STRING_CHARS)
            .maxNumberLength(400)
            .maxNameLength(1_000)
            .build());
  }

  /**
   * For answers of a server, which has checked their parts when it received them. A server may be
   * newer than its client: fields that the client does not know are ignored.
   */
  static JsonMapper answers() {
    return mapper(
            StreamReadConstraints.builder()
                .maxNestingDepth(10 * 1_000)
                .maxStringLength(64 << 20)
                .maxNumberLength(200 * 1_000)
                .maxNameLength(2 << 20)
                .build())
        .rebuild()
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .build();
  }

  /** For JSON from the database: everything is accepted that can be written again. */
  static JsonMapper stored() {
    return JsonMapper.builder(
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
  }

  private static JsonMapper mapper(StreamReadConstraints constraints) {
    JsonFactory factory =
        JsonFactory.builder()
            .streamReadConstraints(constraints)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();
    JsonMapper.Builder builder =
        JsonMapper.builder(factory)
            .addModule(WireTypes.module())
            .disable(MapperFeature.AUTO_DETECT_IS_GETTERS)
            .annotationIntrospector(new SnakeCaseNames())
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            // Digits are kept as they came: 1.10 is not 1.1 to whoever wrote it.
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .defaultPropertyInclusion(
                JsonInclude.Value.construct(
                    JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS));
    for (CoercionInputShape shape :
        List.of(CoercionInputShape.Boolean, CoercionInputShape.Integer, CoercionInputShape.Float)) {
      builder.withCoercionConfig(
          LogicalType.Textual, config -> config.setCoercion(shape, CoercionAction.Fail));
    }
    WireValues.mixInto(builder);
    return builder.build();
  }
}
