package dev.holdfast.contract.json;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;

/**
 * Refuses bytes that are no UTF-8. The parser takes overlong forms, such as two bytes for a slash,
 * and surrogates as bytes: what was checked before it would be another text than what is stored.
 */
final class Utf8 {
  private static final int CHARS = 8 << 10;

  private Utf8() {}

  static void check(byte[] bytes) {
    int first = 0;
    while (first < bytes.length && bytes[first] >= 0) {
      first++;
    }
    if (first < bytes.length
        && !isWellFormed(ByteBuffer.wrap(bytes, first, bytes.length - first))) {
      throw new WireException(WireException.Kind.MALFORMED, "the body is not well-formed UTF-8");
    }
  }

  private static boolean isWellFormed(ByteBuffer bytes) {
    CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    CharBuffer chars = CharBuffer.allocate(CHARS);
    CoderResult result = CoderResult.OVERFLOW;
    while (result.isOverflow()) {
      result = decoder.decode(bytes, chars.clear(), true);
    }
    return result.isUnderflow();
  }
}
