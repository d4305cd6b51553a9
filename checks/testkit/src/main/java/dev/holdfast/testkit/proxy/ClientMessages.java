package dev.holdfast.testkit.proxy;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads along what a client sends to PostgreSQL and tells which statements it has executed. Looking
 * for the text alone is not enough: the driver prepares even COMMIT and later sends only its name.
 */
public final class ClientMessages implements Requests {
  private static final int SSL_REQUEST = 80_877_103;
  private static final int GSS_REQUEST = 80_877_104;

  private final Map<String, String> prepared = new HashMap<>();
  private final ByteArrayOutputStream pending = new ByteArrayOutputStream();
  private boolean started;

  /** The statements executed by these bytes, each with its parameters. */
  @Override
  public List<String> add(byte[] chunk, int length) {
    pending.write(chunk, 0, length);
    ByteBuffer bytes = ByteBuffer.wrap(pending.toByteArray());
    List<String> executed = new ArrayList<>();
    while (hasMessage(bytes)) {
      next(bytes, executed);
    }
    pending.reset();
    pending.write(bytes.array(), bytes.position(), bytes.remaining());
    return executed;
  }

  private boolean hasMessage(ByteBuffer bytes) {
    int typed = started ? 1 : 0;
    return bytes.remaining() >= typed + Integer.BYTES
        && bytes.remaining() >= typed + bytes.getInt(bytes.position() + typed);
  }

  private void next(ByteBuffer bytes, List<String> executed) {
    char type = started ? (char) bytes.get() : ' ';
    byte[] body = new byte[bytes.getInt() - Integer.BYTES];
    bytes.get(body);
    String text = new String(body, StandardCharsets.UTF_8);
    switch (type) {
      // The first message has no type; a request for encryption may come before it.
      case ' ' -> {
        int code = ByteBuffer.wrap(body).getInt();
        started = code != SSL_REQUEST && code != GSS_REQUEST;
      }
      case 'P' -> prepared.put(word(text, 0), word(text, 1));
      case 'B' -> executed.add(prepared.getOrDefault(word(text, 1), "") + text);
      case 'Q' -> executed.add(text);
      default -> {
        // Nothing that is executed.
      }
    }
  }

  private static String word(String text, int index) {
    String[] words = text.split("\0", index + 2);
    return index < words.length ? words[index] : "";
  }
}
