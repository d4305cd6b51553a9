package dev.holdfast.chaos.hostile;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/** Values that programs are known to stumble over. */
final class HostileValues {
  private static final List<String> TEXTS =
      List.of(
          "",
          " ",
          "\0",
          "a\0b",
          "null",
          "undefined",
          "NaN",
          "-1",
          "0",
          "1e309",
          "99999999999999999999",
          "-9223372036854775809",
          "2147483648",
          "../../../etc/passwd",
          "..\\..\\windows",
          "%00",
          "%",
          "%zz",
          "' OR 1=1 --",
          "\"; DROP TABLE holdfast.job; --",
          "{}",
          "[]",
          "<script>alert(1)</script>",
          "\u202egnp.exe",
          "\ud800",
          "\udfff\ud800",
          "\ufeff",
          "\uffff",
          "😀".repeat(100),
          "é".repeat(300),
          "x".repeat(256),
          "x".repeat(70_000),
          "\r\nSet-Cookie: a=b",
          "2026-13-45T99:99:99Z",
          "0001-01-01T00:00:00Z",
          "+999999999-12-31T23:59:59Z",
          "00000000-0000-0000-0000-000000000000",
          "FAILED",
          "state:failed payload.a:b",
          "* * * * *",
          "0 0 31 2 *",
          "P9999999999D",
          "-5m",
          "99999999999d");

  private static final List<String> METHODS =
      List.of(
          "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "FOO", "PUT", "POST");

  private static final List<String> CONTENT_TYPES =
      List.of(
          "text/plain",
          "application/xml",
          "application/json; charset=utf-7",
          "multipart/form-data",
          "nonsense",
          "application/json, text/html",
          "*/*");

  private final Random random;

  HostileValues(Random random) {
    this.random = random;
  }

  String text() {
    return TEXTS.get(random.nextInt(TEXTS.size()));
  }

  String method() {
    return METHODS.get(random.nextInt(METHODS.size()));
  }

  String contentType() {
    return CONTENT_TYPES.get(random.nextInt(CONTENT_TYPES.size()));
  }

  /** For a place in the path: often something that could be there. */
  String segment() {
    return switch (random.nextInt(4)) {
      case 0 -> text();
      case 1 -> "a" + random.nextInt(5);
      default -> uuid();
    };
  }

  /** Not UUID.randomUUID(): the same seed gives the same requests. */
  String uuid() {
    return new UUID(random.nextLong(), random.nextLong()).toString();
  }

  String json(int depth) {
    return switch (random.nextInt(depth > 0 ? 12 : 9)) {
      case 0 -> "null";
      case 1 -> Boolean.toString(random.nextBoolean());
      case 2 -> Integer.toString(random.nextInt());
      case 3 -> "1e400";
      case 4 -> "-0.0000000000000000000001";
      case 5 -> "123456789012345678901234567890";
      case 6, 7 -> quoted(text());
      case 8 -> "[".repeat(random.nextInt(3_000));
      case 9 -> "[" + json(depth - 1) + "," + json(depth - 1) + "]";
      case 10 -> "{\"a\":" + json(depth - 1) + ",\"a\":" + json(depth - 1) + "}";
      default -> "{" + quoted(text()) + ":" + json(depth - 1) + "}";
    };
  }

  /** With some of its bytes changed. */
  byte[] damaged(byte[] bytes) {
    for (int i = 0; bytes.length > 0 && i < 3; i++) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
    }
    return bytes;
  }

  /** As a string of JSON, except that half a surrogate pair is sent as it is. */
  static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char each = text.charAt(i);
      if (each == '"' || each == '\\') {
        quoted.append('\\').append(each);
      } else if (each < ' ' || Character.isSurrogate(each)) {
        quoted.append("\\u%04x".formatted((int) each));
      } else {
        quoted.append(each);
      }
    }
    return quoted.append('"').toString();
  }

  /** As a part of an address. */
  static String encoded(String text) {
    String shortened = text.length() > 3_000 ? text.substring(0, 3_000) : text;
    return URLEncoder.encode(shortened, StandardCharsets.UTF_8);
  }

  /** As the value of a header. */
  static String printable(String text) {
    String shortened = text.length() > 3_000 ? text.substring(0, 3_000) : text;
    return shortened.replaceAll("[\\r\\n\\x00]", "?");
  }
}
