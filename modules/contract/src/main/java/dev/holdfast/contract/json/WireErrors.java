package dev.holdfast.contract.json;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import dev.holdfast.model.value.RefusedException;
import java.io.IOException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Turns a parser's exception into one whose message names the field and what is wrong with it. The
 * parser's own message would name Java classes.
 */
final class WireErrors {
  private WireErrors() {}

  static RuntimeException explained(IOException error) {
    return switch (error) {
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
      case JsonMappingException wrong when ours(wrong) != null -> own(wrong, ours(wrong));
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
      default -> new WireException(WireException.Kind.MALFORMED, "the body is not JSON", error);
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

  /** Says in addition where it is, if that is in a list. */
  private static RuntimeException own(
      JsonMappingException wrong, @Nullable RuntimeException thrown) {
    String path = path(wrong);
    boolean isInList = wrong.getPath().stream().anyMatch(at -> at.getFieldName() == null);
    return switch (thrown) {
      case WireException own when isInList -> own.at(excerpt(path));
      case RefusedException own when isInList -> own.at(excerpt(path));
      case null -> new IllegalStateException();
      default -> thrown;
    };
  }

  /** As in {@code jobs[3].kind}. */
  private static String path(JsonMappingException wrong) {
    StringBuilder path = new StringBuilder();
    for (JsonMappingException.Reference at : wrong.getPath()) {
      if (at.getFieldName() == null) {
        path.append('[').append(at.getIndex()).append(']');
      } else {
        path.append(path.isEmpty() ? "" : ".").append(at.getFieldName());
      }
    }
    return path.toString();
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
}
