package dev.holdfast.contract.json;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.util.JsonParserDelegate;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;

/**
 * Refuses an object that has a field twice, once as {@code maxAttempts} and once as {@code
 * max_attempts}: one of them would be dropped without a word. Documents inside, such as payloads,
 * have names of their own and are not looked at.
 */
final class OneSpelling extends JsonParserDelegate {
  private final Deque<Set<String>> objects = new ArrayDeque<>();
  private int documents;

  OneSpelling(JsonParser parser) {
    super(parser);
  }

  /** From here to {@link #leaveDocument} names are the client's own. */
  static void enterDocument(JsonParser parser) {
    if (parser instanceof OneSpelling own) {
      own.documents++;
    }
  }

  static void leaveDocument(JsonParser parser) {
    if (parser instanceof OneSpelling own) {
      own.documents--;
    }
  }

  @Override
  public JsonToken nextToken() throws IOException {
    JsonToken token = delegate.nextToken();
    if (token == JsonToken.START_OBJECT) {
      objects.push(new HashSet<>());
    } else if (token == JsonToken.END_OBJECT && !objects.isEmpty()) {
      objects.pop();
    } else if (token == JsonToken.FIELD_NAME && documents == 0 && !objects.isEmpty()) {
      String name = delegate.currentName();
      if (!objects.element().add(SnakeCaseNames.snakeCase(name))) {
        throw new JsonParseException(delegate, "Duplicate field '" + name + "'");
      }
    }
    return token;
  }

  @Override
  public JsonParser skipChildren() throws IOException {
    JsonToken begun = currentToken();
    if (begun != JsonToken.START_OBJECT && begun != JsonToken.START_ARRAY) {
      return this;
    }
    documents++;
    for (int depth = 1; depth > 0; ) {
      JsonToken token = nextToken();
      if (token == null) {
        break;
      }
      depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
    }
    documents--;
    return this;
  }
}
