package dev.holdfast.workspace.git;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** File names as git prints them: as they are, or in quotes with escapes when they are unusual. */
final class FileNames {
  private FileNames() {}

  /** The real name; one that is no UTF-8 stays quoted. */
  static String read(String printed) {
    if (!printed.startsWith("\"")) {
      return printed;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    int end = printed.length() - 1;
    for (int i = 1; i < end; i++) {
      char c = printed.charAt(i);
      if (c != '\\') {
        bytes.write(c);
      } else {
        char escaped = printed.charAt(++i);
        if (escaped >= '0' && escaped <= '3') {
          bytes.write(Integer.parseInt(printed, i, i + 3, 8));
          i += 2;
        } else {
          bytes.write(plain(escaped));
        }
      }
    }
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes.toByteArray()))
          .toString();
    } catch (CharacterCodingException noUtf8) {
      return printed;
    }
  }

  /** Puts something before and behind a printed name, in quotes: git reads it back. */
  static String around(String before, String printed, String behind) {
    boolean quoted = printed.startsWith("\"");
    String inner = quoted ? printed.substring(1, printed.length() - 1) : printed;
    return "\"" + before + inner + behind + "\"";
  }

  /** Whether the printed name is that of a folder. */
  static boolean isFolder(String printed) {
    return printed.endsWith("/") || printed.endsWith("/\"");
  }

  private static int plain(char escaped) {
    return switch (escaped) {
      case 'a' -> 7;
      case 'b' -> '\b';
      case 't' -> '\t';
      case 'n' -> '\n';
      case 'v' -> 11;
      case 'f' -> '\f';
      case 'r' -> '\r';
      default -> escaped;
    };
  }
}
