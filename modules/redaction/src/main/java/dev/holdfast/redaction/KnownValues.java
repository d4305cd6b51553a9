package dev.holdfast.redaction;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLEncoder;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Finds secrets whose value is known, as they are and in the usual encodings of text and bytes. */
final class KnownValues implements Rule {
  private static final int SHORTEST = 6;
  private static final int SHORTEST_NUMBER = 8;
  private static final int TRIGGER = 8;
  private static final int PIECE = Line.AHEAD / 2;
  private static final int[] BASE64_LINES = {64, 76};
  private static final int LONG_LINE = 20;
  private static final Set<String> COMMON =
      Set.of(
          "changeit",
          "changeme",
          "default",
          "disabled",
          "enabled",
          "example",
          "localhost",
          "password",
          "postgres",
          "secret",
          "undefined",
          "unknown");

  private final String trigger;
  private final List<Variant> variants = new ArrayList<>();

  private KnownValues(String trigger) {
    this.trigger = trigger;
  }

  /** One way to write a value. In base64 the characters around it carry bits of it too. */
  private record Variant(String text, boolean base64) {}

  static List<Rule> rules(Collection<String> values) {
    return rules(variants(values));
  }

  private static Set<Variant> variants(Collection<String> values) {
    Set<Variant> variants = new LinkedHashSet<>();
    for (String value : values) {
      for (String line : value.split("[\r\n]+", -1)) {
        addAll(variants, line);
      }
      addAll(variants, value);
    }
    return variants;
  }

  /**
   * For bytes, each taken for a character. Of values of several lines only those lines count that
   * nobody else would write: other files have a line {@code apiVersion: v1} too.
   */
  static List<Rule> byteRules(Collection<String> values) {
    return rules(inBytes(values));
  }

  /** The same, for those that are wrapped. */
  static List<String> writtenInBytes(Collection<String> values) {
    return inBytes(values).stream().map(Variant::text).toList();
  }

  private static Set<Variant> inBytes(Collection<String> values) {
    Set<Variant> inText = new LinkedHashSet<>();
    Set<Variant> inBytes = new LinkedHashSet<>();
    for (String value : values) {
      List<String> lines = value.strip().lines().toList();
      for (String line : lines) {
        if (lines.size() == 1 || (line.length() >= LONG_LINE && SecretValue.looksRandom(line))) {
          addAll(inText, line.strip());
          addQuotedByGit(inText, line.strip());
          addUtf16(inBytes, line.strip());
        }
      }
    }
    for (Variant variant : inText) {
      String bytes = new String(variant.text.getBytes(UTF_8), ISO_8859_1);
      inBytes.add(new Variant(bytes, variant.base64));
    }
    return inBytes;
  }

  /** As the names of files are written in patches. */
  private static void addQuotedByGit(Set<Variant> variants, String value) {
    StringBuilder quoted = new StringBuilder();
    for (byte b : value.getBytes(UTF_8)) {
      char c = (char) (b & 0xff);
      if (c >= 0x7F) {
        quoted.append('\\').append(Integer.toOctalString(c));
      } else {
        quoted.append(c == '"' || c == '\\' ? "\\" : "").append(c);
      }
    }
    if (!isTrivial(value)) {
      add(variants, quoted.toString(), false);
    }
  }

  private static void addUtf16(Set<Variant> variants, String value) {
    if (!isTrivial(value)) {
      for (Charset charset : List.of(UTF_16LE, UTF_16BE)) {
        add(variants, new String(value.getBytes(charset), ISO_8859_1), false);
      }
    }
  }

  /** How the values are written: where a text was cut, its end may be the beginning of one. */
  static List<String> written(Collection<String> values) {
    return variants(values).stream().map(Variant::text).toList();
  }

  private static List<Rule> rules(Set<Variant> variants) {
    Map<String, KnownValues> byTrigger = new LinkedHashMap<>();
    for (Variant variant : variants) {
      String start = variant.text.substring(0, Math.min(TRIGGER, variant.text.length()));
      byTrigger.computeIfAbsent(start, KnownValues::new).variants.add(variant);
    }
    return List.copyOf(byTrigger.values());
  }

  private static void addAll(Set<Variant> variants, String value) {
    if (isTrivial(value.strip())) {
      return;
    }
    String json = jsonEscaped(value);
    String percent = percentEncoded(value, "-_.~");
    String component = percentEncoded(value, "-_.~!'()*");
    String form = URLEncoder.encode(value, UTF_8);
    for (String text :
        List.of(
            value,
            value.replace("/", "\\/"),
            percent,
            component,
            form,
            shellEscaped(value),
            percent.replace("%", "%25"),
            form.replace("%", "%25"))) {
      add(variants, text);
      add(variants, lowerHex(text));
    }
    // JSON is often quoted in JSON.
    for (String text :
        List.of(
            json,
            json.replace("/", "\\/"),
            unicodeEscaped(json, "<>&'", HexFormat.of()),
            unicodeEscaped(json, "<>&='", HexFormat.of()),
            unicodeEscaped(json, "<>&'+`", HexFormat.of().withUpperCase()))) {
      add(variants, text);
      add(variants, jsonEscaped(text));
    }
    for (String quote : List.of("&quot;", "&#34;")) {
      for (String apostrophe : List.of("'", "&#39;", "&#x27;", "&apos;")) {
        add(variants, xmlEscaped(value).replace("\"", quote).replace("'", apostrophe));
      }
    }
    byte[] bytes = value.getBytes(UTF_8);
    for (String separator : List.of("%", "\\x", " ", ":")) {
      HexFormat hex = HexFormat.ofDelimiter(separator);
      String first = separator.length() > 1 || separator.equals("%") ? separator : "";
      add(variants, first + hex.formatHex(bytes), false);
      add(variants, first + hex.withUpperCase().formatHex(bytes), false);
    }
    for (byte[] encoded : List.of(bytes, value.getBytes(UTF_16LE), value.getBytes(UTF_16BE))) {
      for (int offset = 0; offset < 3; offset++) {
        String inside = base64Inside(encoded, offset);
        add(variants, inside, true);
        add(variants, inside.replace('+', '-').replace('/', '_'), true);
      }
      add(variants, HexFormat.of().formatHex(encoded), false);
      add(variants, HexFormat.of().withUpperCase().formatHex(encoded), false);
    }
    String whole = Base64.getEncoder().encodeToString(bytes);
    for (int width : BASE64_LINES) {
      for (int from = 0; whole.length() > width && from < whole.length(); from += width) {
        String piece = whole.substring(from, Math.min(whole.length(), from + width));
        add(variants, piece, false);
      }
    }
  }

  private static void add(Set<Variant> variants, String text) {
    // A value of several lines is looked for line by line, apart from its escaped forms.
    if (text.indexOf('\n') < 0 && text.indexOf('\r') < 0) {
      add(variants, text, false);
    }
  }

  private static void add(Set<Variant> variants, String text, boolean base64) {
    for (int from = 0; from < text.length(); from += PIECE) {
      String piece = text.substring(from, Math.min(text.length(), from + PIECE));
      if (piece.length() >= SHORTEST) {
        variants.add(new Variant(piece, base64));
      }
    }
  }

  static boolean isTrivial(String value) {
    return value.length() < SHORTEST
        || value.chars().distinct().count() == 1
        || (value.length() < SHORTEST_NUMBER && value.chars().allMatch(Character::isDigit))
        || COMMON.contains(value.toLowerCase(Locale.ROOT));
  }

  /** What the bytes become wherever they stand, without what depends on their neighbours. */
  static String base64Inside(byte[] bytes, int offset) {
    byte[] shifted = new byte[offset + bytes.length];
    System.arraycopy(bytes, 0, shifted, offset, bytes.length);
    String encoded = Base64.getEncoder().withoutPadding().encodeToString(shifted);
    int first = offset == 0 ? 0 : offset + 1;
    int last = shifted.length % 3 == 0 ? encoded.length() : encoded.length() - 1;
    return first < last ? encoded.substring(first, last) : "";
  }

  private static String percentEncoded(String value, String asTheyAre) {
    StringBuilder encoded = new StringBuilder();
    for (byte b : value.getBytes(UTF_8)) {
      char c = (char) (b & 0xff);
      if (Alphabet.ALNUM.has(c) || asTheyAre.indexOf(c) >= 0) {
        encoded.append(c);
      } else {
        encoded.append('%').append(HexFormat.of().withUpperCase().toHexDigits(b));
      }
    }
    return encoded.toString();
  }

  private static String lowerHex(String encoded) {
    StringBuilder lower = new StringBuilder(encoded);
    for (int i = encoded.indexOf('%'); i >= 0; i = encoded.indexOf('%', i + 1)) {
      for (int hex = i + 1; hex < Math.min(i + 3, encoded.length()); hex++) {
        lower.setCharAt(hex, Character.toLowerCase(encoded.charAt(hex)));
      }
    }
    return lower.toString();
  }

  private static String jsonEscaped(String value) {
    StringBuilder escaped = new StringBuilder();
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '"', '\\' -> escaped.append('\\').append(c);
        case '\n' -> escaped.append("\\n");
        case '\r' -> escaped.append("\\r");
        case '\t' -> escaped.append("\\t");
        default -> escaped.append(c);
      }
    }
    return escaped.toString();
  }

  /** As encoders do that trust neither browsers nor character sets, some more than others. */
  private static String unicodeEscaped(String json, String characters, HexFormat hex) {
    StringBuilder escaped = new StringBuilder();
    for (int i = 0; i < json.length(); i++) {
      char c = json.charAt(i);
      if (c >= 128 || characters.indexOf(c) >= 0) {
        escaped.append("\\u").append(hex.toHexDigits(c));
      } else {
        escaped.append(c);
      }
    }
    return escaped.toString();
  }

  private static String shellEscaped(String value) {
    StringBuilder escaped = new StringBuilder();
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      boolean plain = c >= 128 || Alphabet.ALNUM.has(c) || "-_./:=@%+,".indexOf(c) >= 0;
      escaped.append(plain ? "" : "\\").append(c);
    }
    return escaped.toString();
  }

  private static String xmlEscaped(String value) {
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  @Override
  public String trigger() {
    return trigger;
  }

  @Override
  public boolean mayApply(char[] text, int begin, int at) {
    return true;
  }

  @Override
  public void apply(Line line, int at) {
    for (Variant variant : variants) {
      if (!line.has(variant.text, at)) {
        continue;
      }
      int start = at;
      int end = at + variant.text.length();
      if (variant.base64) {
        start -= Alphabet.BASE64.has(line.at(start - 1)) ? 1 : 0;
        end += Alphabet.BASE64.has(line.at(end)) ? 1 : 0;
        for (int padding = 0; padding < 2 && line.at(end) == '='; padding++) {
          end++;
        }
      }
      line.mask(start, end);
    }
  }
}
