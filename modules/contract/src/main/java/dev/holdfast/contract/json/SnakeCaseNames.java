package dev.holdfast.contract.json;

import com.fasterxml.jackson.databind.PropertyName;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.AnnotatedField;
import com.fasterxml.jackson.databind.introspect.AnnotatedParameter;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Readers accept every field under its name in snake_case as well. */
final class SnakeCaseNames extends JacksonAnnotationIntrospector {
  private static final long serialVersionUID = 1L;
  private static final Pattern HUMP = Pattern.compile("([a-z0-9])([A-Z])");

  @Override
  public @Nullable List<PropertyName> findPropertyAliases(Annotated annotated) {
    String name = name(annotated);
    if (name != null) {
      String snake = snakeCase(name);
      if (!snake.equals(name)) {
        return List.of(PropertyName.construct(snake));
      }
    }
    return super.findPropertyAliases(annotated);
  }

  static String snakeCase(String name) {
    return HUMP.matcher(name).replaceAll("$1_$2").toLowerCase(Locale.ROOT);
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
