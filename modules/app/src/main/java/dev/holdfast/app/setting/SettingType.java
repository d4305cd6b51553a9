package dev.holdfast.app.setting;

import dev.holdfast.contract.token.WebhookSecret;
import java.net.URI;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * How the text of a setting becomes a value.
 *
 * @param expected completes the sentence "... is expected"
 * @param parse throws IllegalArgumentException when the text is no such value
 */
record SettingType<T>(String expected, Function<String, T> parse) {
  /** The longest duration of most settings. */
  private static final Duration YEAR = Duration.ofDays(365);

  private static final int MOST = 1_000_000;

  private static final SettingType<String> TEXT = new SettingType<>("text", text -> text);

  private static final SettingType<Boolean> FLAG =
      new SettingType<>(
          "true or false",
          text ->
              switch (text.toLowerCase(Locale.ROOT)) {
                case "1", "true", "yes", "on" -> true;
                case "0", "false", "no", "off" -> false;
                default -> throw new IllegalArgumentException(text);
              });

  private static final SettingType<Path> PATH = new SettingType<>("a path", SettingType::path);

  /** The address of a server, without anything that could follow it. */
  private static final SettingType<URI> SERVER_URL =
      new SettingType<>("a URL such as https://jobs.example.org", SettingType::serverUrl);

  /** Of anything, with a path and a query. */
  private static final SettingType<URI> WEB_ADDRESS =
      new SettingType<>("a URL such as https://example.org/hook", SettingType::webAddress);

  private static final SettingType<WebhookSecret> WEBHOOK_SECRET =
      new SettingType<>(WebhookSecret.EXPECTED, WebhookSecret::parse);

  private static final SettingType<String> ADDRESS =
      new SettingType<>("an address such as 127.0.0.1 or 0.0.0.0", SettingType::address);

  /** In the file a list or text with commas, in a variable text with commas. */
  static final SettingType<List<String>> LIST = new SettingType<>("a list", SettingType::list);

  /** The type of a component, within the limits that are declared for it. */
  static SettingType<?> of(Class<?> type, Declared declared) {
    return switch (declared.form()) {
      case ADDRESS -> ADDRESS;
      case HOSTS -> HostNames.WITHOUT_PORTS;
      case HOSTS_AND_PORTS -> HostNames.WITH_PORTS;
      case HOST_AND_PORT -> HostNames.WITH_PORT;
      case WEB_ADDRESS -> WEB_ADDRESS;
      case WEBHOOK_SECRET -> WEBHOOK_SECRET;
      case BY_TYPE -> byType(type, declared);
    };
  }

  private static SettingType<?> byType(Class<?> type, Declared declared) {
    if (type.isEnum()) {
      return oneOf(type);
    }
    return switch (type.getSimpleName()) {
      case "String" -> declared.oneOf().length > 0 ? oneOf(declared.oneOf()) : TEXT;
      case "boolean" -> FLAG;
      case "int", "Integer" -> whole(number(declared.least(), 0), number(declared.most(), MOST));
      case "double" -> decimal(number(declared.least(), 0), number(declared.most(), MOST));
      case "long" -> size(Sizes.parse(declared.least()), Sizes.parse(declared.most()));
      case "Duration" ->
          duration(
              declared.least().isEmpty() ? Duration.ZERO : Durations.parse(declared.least()),
              declared.most().isEmpty() ? YEAR : Durations.parse(declared.most()));
      case "Path" -> PATH;
      case "URI" -> SERVER_URL;
      case "List" -> LIST;
      default -> throw new IllegalArgumentException("a setting cannot be a " + type);
    };
  }

  private static int number(String text, int otherwise) {
    return text.isEmpty() ? otherwise : Integer.parseInt(text);
  }

  /** The constants of an enum, in small letters. */
  private static SettingType<Object> oneOf(Class<?> type) {
    List<Object> constants = List.of(type.getEnumConstants());
    List<String> words =
        constants.stream().map(each -> each.toString().toLowerCase(Locale.ROOT)).toList();
    SettingType<String> word = oneOf(words.toArray(String[]::new));
    return new SettingType<>(
        word.expected(), text -> constants.get(words.indexOf(word.parse().apply(text))));
  }

  private static SettingType<Integer> whole(int least, int most) {
    return limited(
        "a whole number from %d to %d".formatted(least, most), Integer::valueOf, least, most);
  }

  /** The limits are whole numbers, the value need not be. */
  private static SettingType<Double> decimal(int least, int most) {
    return limited(
        "a number from %d to %d".formatted(least, most),
        Double::valueOf,
        (double) least,
        (double) most);
  }

  private static SettingType<Duration> duration(Duration least, Duration most) {
    return limited(
        "a duration from %s to %s, such as 250ms, 30s or 5m,"
            .formatted(Durations.compact(least), Durations.compact(most)),
        Durations::parse,
        least,
        most);
  }

  /** A number of bytes. */
  private static SettingType<Long> size(long least, long most) {
    return limited(
        "a size from %s to %s, such as 10MB,".formatted(Sizes.text(least), Sizes.text(most)),
        Sizes::parse,
        least,
        most);
  }

  private static SettingType<String> oneOf(String... words) {
    List<String> known = List.of(words);
    return new SettingType<>(
        "one of " + String.join(", ", known),
        text -> {
          String word = text.toLowerCase(Locale.ROOT);
          if (!known.contains(word)) {
            throw new IllegalArgumentException(text);
          }
          return word;
        });
  }

  private static <T extends Comparable<T>> SettingType<T> limited(
      String expected, Function<String, T> parse, T least, T most) {
    return new SettingType<>(
        expected,
        text -> {
          T value = parse.apply(text);
          // NaN is greater than every other number.
          if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(text);
          }
          return value;
        });
  }

  private static List<String> list(String text) {
    return Arrays.stream(text.split(",", -1))
        .map(String::strip)
        .filter(part -> !part.isEmpty())
        .toList();
  }

  private static Path path(String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException invalid) {
      throw new IllegalArgumentException(text, invalid);
    }
  }

  private static String address(String text) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException(text);
    }
    return text;
  }

  private static URI webAddress(String text) {
    URI url = URI.create(text);
    if (isWeb(url)) {
      return url;
    }
    throw new IllegalArgumentException("not an address in the web");
  }

  private static boolean isWeb(URI url) {
    String scheme = String.valueOf(url.getScheme()).toLowerCase(Locale.ROOT);
    return (scheme.equals("http") || scheme.equals("https"))
        && url.getHost() != null
        && url.getRawUserInfo() == null
        && url.getRawFragment() == null;
  }

  private static URI serverUrl(String text) {
    URI url = URI.create(text.replaceAll("/+$", ""));
    if (isWeb(url) && url.getRawQuery() == null) {
      return url;
    }
    throw new IllegalArgumentException("not the address of a server");
  }
}
