package dev.holdfast.model.value;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a JSON object that somebody has written by hand: each is read by its name, and none
 * may be left over, for a field that is misspelled would be passed over without a word.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class JsonFields {
  private static final int MOST_SHOWN = 60;

  private final Map<?, ?> all;
  private final Set<String> read = new TreeSet<>();

  private JsonFields(Map<?, ?> all) {
    this.all = all;
  }

  /**
   * @param value as a codec reads it without knowing a type
   */
  public static JsonFields of(@Nullable Object value) {
    if (value instanceof Map<?, ?> all) {
      return new JsonFields(all);
    }
    throw new RefusedException(
        Refusal.PAYLOAD_MISMATCH, "it must be an object, and not " + shown(value));
  }

  /** As it is; null where it is absent. */
  public @Nullable Object value(String name) {
    read.add(name);
    return all.get(name);
  }

  public @Nullable String textOrNull(String name) {
    Object value = value(name);
    if (value == null || value instanceof String) {
      return (String) value;
    }
    throw wrong(name, "must be a text, and not " + shown(value));
  }

  public String text(String name) {
    return present(name, textOrNull(name));
  }

  public @Nullable Long wholeOrNull(String name) {
    Object value = value(name);
    return switch (value) {
      case null -> null;
      case Integer number -> number.longValue();
      case Long number -> number;
      default -> throw wrong(name, "must be a whole number, and not " + shown(value));
    };
  }

  /** A whole number that fits 32 bits. */
  public @Nullable Integer smallOrNull(String name) {
    Long value = wholeOrNull(name);
    if (value != null && value != value.intValue()) {
      throw wrong(name, "must be a smaller number than " + value);
    }
    return value == null ? null : value.intValue();
  }

  public boolean flag(String name) {
    Object value = value(name);
    if (value == null || value instanceof Boolean) {
      return Boolean.TRUE.equals(value);
    }
    throw wrong(name, "must be true or false, and not " + shown(value));
  }

  /** A moment, by ISO 8601 with a zone. */
  public @Nullable Instant momentOrNull(String name) {
    String text = textOrNull(name);
    try {
      return text == null ? null : OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeException notOne) {
      throw wrong(name, "must be a time such as 2030-01-31T12:00:00Z, and not " + shown(text));
    }
  }

  public List<String> texts(String name) {
    List<String> texts = new ArrayList<>();
    for (Object each : list(name)) {
      if (!(each instanceof String text)) {
        throw wrong(name, "must be a list of texts");
      }
      texts.add(text);
    }
    return texts;
  }

  /** Empty where it is absent. */
  public List<?> list(String name) {
    return switch (value(name)) {
      case null -> List.of();
      case List<?> list -> list;
      case Object other -> throw wrong(name, "must be a list, and not " + shown(other));
    };
  }

  public boolean has(String name) {
    return value(name) != null;
  }

  public <T> T present(String name, @Nullable T value) {
    if (value == null) {
      throw wrong(name, "is missing");
    }
    return value;
  }

  /** All that is to be read has been: there is nothing else. */
  public void end() {
    for (Object name : all.keySet()) {
      if (!read.contains(name)) {
        throw new RefusedException(
            Refusal.PAYLOAD_MISMATCH,
            "there is no field %s here, only %s".formatted(shown(name), String.join(", ", read)));
      }
    }
  }

  public RefusedException wrong(String name, String why) {
    return new RefusedException(Refusal.PAYLOAD_MISMATCH, "field '%s' %s".formatted(name, why));
  }

  private static String shown(@Nullable Object value) {
    return value instanceof String text
        ? "'" + Text.excerpt(Text.inert(text), MOST_SHOWN) + "'"
        : Text.excerpt(Text.inert(String.valueOf(value)), MOST_SHOWN);
  }
}
