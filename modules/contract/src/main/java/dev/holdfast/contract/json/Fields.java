package dev.holdfast.contract.json;

import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What the fields of callbacks may hold. */
public final class Fields {
  /** As JSON has it: a backslash that is not itself escaped, and its name. */
  private static final Pattern NUL = Pattern.compile("(?<!\\\\)(?:\\\\{2})*\\\\u0000");

  private static final long MOST_MILLIS = Integer.MAX_VALUE;

  private Fields() {}

  public static void attempt(int attempt) {
    if (attempt < 1) {
      throw wrong("attempt", "must be given and be 1 or more");
    }
  }

  public static String worker(@Nullable String worker) {
    String given = Wire.present("workerId", worker);
    if (given.isBlank()) {
      throw wrong("workerId", "must not be empty");
    }
    text("workerId", given, Limits.KEY_CHARS);
    return given;
  }

  /** Of a handler, if it has one. */
  public static void version(@Nullable Integer version) {
    if (version != null && (version < 1 || version > KindVersion.LAST)) {
      throw wrong("version", "must be between 1 and " + KindVersion.LAST);
    }
  }

  public static void text(String field, @Nullable String value, int most) {
    if (value != null
        && (value.length() > most || value.indexOf('\0') >= 0 || !Text.isWellFormed(value))) {
      throw wrong(field, "must have %d characters at most, and no NUL".formatted(most));
    }
  }

  public static <T> List<T> list(String field, @Nullable List<T> values, int most) {
    List<T> given = Wire.present(field, values);
    if (given.isEmpty() || given.size() > most || given.stream().anyMatch(Objects::isNull)) {
      throw wrong(field, "must hold 1 to %,d entries".formatted(most));
    }
    return List.copyOf(given);
  }

  /** Converts each entry of a list. The message of one that is refused begins with its place. */
  public static <T, R> List<R> each(String field, List<T> values, Function<T, R> conversion) {
    List<R> converted = new ArrayList<>(values.size());
    for (T value : values) {
      String place = field + "[" + converted.size() + "]";
      try {
        converted.add(conversion.apply(value));
      } catch (WireException wrong) {
        throw wrong.at(place);
      } catch (RefusedException refused) {
        throw refused.at(place);
      }
    }
    return List.copyOf(converted);
  }

  /** For what is cut to its length later: half a character cannot be stored at all. */
  public static void wellFormed(String field, @Nullable String value) {
    if (value != null && !Text.isWellFormed(value)) {
      throw wrong(field, "holds half of a surrogate pair");
    }
  }

  /**
   * A text that decides nothing, cut to what can be stored. For it alone a worker shall not lose
   * its lease or its result.
   */
  public static @Nullable String shortened(@Nullable String value, int most) {
    return value == null ? null : Text.excerpt(Text.wellFormed(value), most);
  }

  /** JSON that decides nothing, or a note in its place if it cannot be stored. */
  public static @Nullable Json orNote(String field, @Nullable Json value) {
    if (value == null) {
      return null;
    }
    try {
      Limits.eventData(value);
    } catch (RefusedException tooMuch) {
      return note(field, tooMuch.getMessage());
    }
    return NUL.matcher(value.text()).find() ? note(field, "it has the character NUL") : value;
  }

  private static Json note(String field, @Nullable String why) {
    return new Json(Wire.text(Map.of("dropped", field + ": " + why)));
  }

  public static WireException wrong(String field, String what) {
    return new WireException(WireException.Kind.WRONG_VALUE, "field '" + field + "' " + what);
  }

  /** How long an attempt of a step has run, told when it has ended. */
  public static void took(@Nullable Long tookMs, StepState state) {
    if (tookMs != null && (tookMs < 0 || tookMs > MOST_MILLIS || state == StepState.RUNNING)) {
      throw wrong(
          "tookMs", "must be between 0 and %,d, of a step that has ended".formatted(MOST_MILLIS));
    }
  }
}
