package dev.holdfast.app.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** Says where a text that should be JSON is not, and what was expected there. */
final class JsonText {
  private static final JsonFactory FACTORY =
      JsonFactory.builder().disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION).build();
  private static final Pattern SOURCE =
      Pattern.compile("\\[Source:[^\\]]*?line: (\\d+), column: (\\d+)\\]");

  private final String text;
  private final int firstLine;

  /**
   * @param firstLine the number of its first line in the file it is from
   */
  JsonText(String text, int firstLine) {
    this.text = text;
    this.firstLine = firstLine;
  }

  Optional<String> problem() {
    try (JsonParser parser = FACTORY.createParser(text)) {
      if (parser.nextToken() == null) {
        return Optional.of("it is empty, which is no JSON; {} is an empty object");
      }
      parser.skipChildren();
      JsonLocation end = parser.currentLocation();
      return parser.nextToken() == null
          ? Optional.empty()
          : Optional.of(
              place(end.getLineNr(), end.getColumnNr())
                  + ": the value ends here, and more follows");
    } catch (StreamConstraintsException beyond) {
      // The limit on the size is checked where the payload is stored.
      return Optional.empty();
    } catch (JsonProcessingException wrong) {
      JsonLocation at = wrong.getLocation();
      return Optional.of(place(at.getLineNr(), at.getColumnNr()) + ": " + reason(wrong));
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private String place(int line, int column) {
    return "line %d, column %d".formatted(firstLine + line - 1, column);
  }

  /** The parser's message, without details of its implementation. */
  private String reason(JsonProcessingException wrong) {
    String placed =
        SOURCE
            .matcher(wrong.getOriginalMessage())
            .replaceAll(at -> place(Integer.parseInt(at.group(1)), Integer.parseInt(at.group(2))));
    String reason =
        placed
            .replaceAll("\\(\\(CTRL-CHAR, code (\\d+)\\)\\)", "(control character $1)")
            .replaceAll("\\('''? \\(code 39\\)\\)", "(a single quote)")
            .replaceAll(" \\(code [^)]*\\)", "")
            .replaceAll(": enable `.*", "");
    return reason.substring(0, 1).toLowerCase(Locale.ROOT) + reason.substring(1);
  }
}
