package dev.holdfast.server.routing;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Text;
import dev.holdfast.server.auth.Authenticator;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.ClientWatch;
import dev.holdfast.server.http.IdentityEncoding;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.http.SlowRequestTimeout;
import dev.holdfast.server.http.WatchedConnectionSelector;
import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** A request with its route, its caller and its parameters. */
public final class Call {
  private static final String FORM = "application/x-www-form-urlencoded";

  private final ServerRequest request;
  private final SlowRequestTimeout slowRequests;
  private final Route route;
  private final Map<String, String> values;
  private final Authenticator.Shown shown;
  private final Caller caller;
  private final TaskTokens.@Nullable Read token;

  Call(
      ServerRequest request,
      SlowRequestTimeout slowRequests,
      Route route,
      Map<String, String> values,
      Authenticator.Shown shown,
      Caller caller,
      TaskTokens.@Nullable Read token) {
    this.request = request;
    this.slowRequests = slowRequests;
    this.route = route;
    this.values = values;
    this.shown = shown;
    this.caller = caller;
    this.token = token;
  }

  /** The credentials, for actions that authenticate themselves. */
  public Authenticator.Shown shown() {
    return shown;
  }

  public String peer() {
    return shown.peer();
  }

  /** Tells whether the client waits for the answer. For the thread of the request only. */
  public ClientWatch client() {
    return WatchedConnectionSelector.ofRequest();
  }

  public Caller caller() {
    return caller;
  }

  /** The content of the task token. */
  public TaskTokens.Read token() {
    if (token == null) {
      throw new IllegalStateException(route.template() + " asks for no task token");
    }
    return token;
  }

  public String value(String name) {
    String value = values.get(name);
    if (value == null) {
      throw new IllegalStateException(route.template() + " has no {" + name + "}");
    }
    return value;
  }

  public JobId id(String name) {
    return JobId.parse(value(name));
  }

  /** The path with its query, not decoded. */
  String path() {
    return request.path().rawPath() + "?" + request.query().rawValue();
  }

  public Optional<String> header(String name) {
    return request.headers().first(io.helidon.http.HeaderNames.create(name));
  }

  /** The value of a header that is there exactly once. */
  public Optional<String> only(String header) {
    var values = request.headers().values(io.helidon.http.HeaderNames.create(header));
    return values.size() == 1 ? Optional.of(values.getFirst()) : Optional.empty();
  }

  /** The value of a query parameter; one that is given twice is refused. */
  public Optional<String> query(String name) {
    try {
      if (!request.query().contains(name)) {
        return Optional.empty();
      }
      var all = request.query().all(name);
      if (all.size() > 1) {
        throw new Problem(422, "invalid_value", "parameter '" + name + "' is given twice");
      }
      return all.isEmpty() ? Optional.of("") : Optional.of(all.getFirst());
    } catch (IllegalArgumentException malformed) {
      throw Problem.badRequest("the query is not well encoded");
    }
  }

  public int whole(String name, int unlessGiven, int least, int most) {
    return query(name).isEmpty() ? unlessGiven : whole(name, least, most);
  }

  public int whole(String name, int least, int most) {
    try {
      int value = Integer.parseInt(query(name).orElse(""));
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException notOne) {
      // answered below
    }
    throw new Problem(
        422,
        "invalid_value",
        "parameter '%s' must be a whole number from %d to %d".formatted(name, least, most));
  }

  /** False if the parameter is absent. Only {@code true} and {@code false} are booleans. */
  public boolean flag(String name) {
    String given = query(name).orElse("false");
    return switch (given) {
      case "true" -> true;
      case "false" -> false;
      default ->
          throw new Problem(
              422,
              "invalid_value",
              "parameter '%s' must be true or false, not '%s'"
                  .formatted(name, Text.excerpt(given, 60)));
    };
  }

  /** Refuses unknown parameters: a misspelt filter must not look like no filter. */
  void onlyKnownQueries() {
    // The web server would read an overlong form as another character.
    Router.decoded(String.valueOf(request.query().rawValue()), "query");
    for (String name : request.query().names()) {
      if (!route.queries().contains(name)) {
        throw new Problem(
            422,
            "unknown_parameter",
            "parameter '%s' is unknown: %s"
                .formatted(
                    Text.excerpt(name, 60),
                    route.queries().isEmpty()
                        ? "there are none here"
                        : "known are " + String.join(", ", new TreeSet<>(route.queries()))));
      }
    }
  }

  public <T> T body(Class<T> type) {
    return Wire.read(bytes(), type);
  }

  /** The body of a callback. Ignores unknown fields, since the worker may be newer. */
  public <T> T callback(Class<T> type) {
    return Wire.readKnown(bytes(), type);
  }

  /** The body, or the given value if there is none. */
  public <T> T body(Class<T> type, T unlessGiven) {
    byte[] bytes = bytes(false);
    return bytes.length == 0 ? unlessGiven : Wire.read(bytes, type);
  }

  public byte[] bytes() {
    return bytes(true);
  }

  /** Whether the body is what a browser sends for a form. */
  public boolean isForm() {
    return isOfType(FORM);
  }

  /** The fields of a form, each of which is given once at most. */
  public Map<String, String> form(String... known) {
    byte[] bytes = request.content().hasEntity() ? read() : new byte[0];
    mustBe(FORM);
    Map<String, String> fields = new HashMap<>();
    for (String field : new String(bytes, StandardCharsets.UTF_8).split("&", -1)) {
      String[] parts = field.split("=", 2);
      String name = formText(parts[0]);
      String value = formText(parts.length == 1 ? "" : parts[1]);
      if (field.isEmpty()) {
        continue;
      }
      if (!Set.of(known).contains(name) || fields.put(name, value) != null) {
        throw new Problem(
            422,
            "unknown_field",
            "field '%s' of the form is unknown, or given twice".formatted(Text.excerpt(name, 60)));
      }
    }
    return fields;
  }

  private static String formText(String text) {
    return Router.decoded(text.replace('+', ' '), "form");
  }

  /** A body that is not JSON only. */
  public byte[] raw() {
    byte[] bytes = request.content().hasEntity() ? read() : new byte[0];
    mustBe(Answer.BYTES);
    return bytes;
  }

  /** Takes a body as it comes. What it cannot store it throws. */
  @FunctionalInterface
  public interface BodyReader<T> {
    T read(InputStream body) throws IOException;
  }

  /** A body that is not JSON, and may be too large to be held in memory. */
  public <T> T streamed(BodyReader<T> reader) throws IOException {
    mustBe(Answer.BYTES);
    InputStream in =
        request.content().hasEntity()
            ? new LimitedBody(request.content().inputStream())
            : InputStream.nullInputStream();
    return slowRequests.during(() -> reader.read(in));
  }

  /**
   * Throws what the request is answered with, so that it is distinguished from an error of its
   * reader.
   */
  private final class LimitedBody extends InputStream {
    private final InputStream in;
    private long left = route.maxBody();

    LimitedBody(InputStream in) {
      this.in = in;
    }

    @Override
    public int read() {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] buffer, int offset, int length) {
      try {
        int read = in.read(buffer, offset, length);
        left -= Math.max(0, read);
        if (read < 0 || left < 0) {
          in.close();
        }
        if (left >= 0) {
          return read;
        }
      } catch (IOException | RuntimeException e) {
        throw incomplete();
      }
      throw tooLarge();
    }
  }

  private Problem tooLarge() {
    return new Problem(
        413,
        "body_too_large",
        "the body is over the limit of %,d bytes".formatted(route.maxBody()));
  }

  /** The beginning of the next request cannot be found any more. */
  private static Problem incomplete() {
    return new Problem(400, "body_incomplete", "the body ended before it was whole")
        .header("Connection", "close");
  }

  private byte[] bytes(boolean needed) {
    byte[] bytes = request.content().hasEntity() ? read() : new byte[0];
    if (bytes.length == 0) {
      if (needed) {
        throw new Problem(400, "body_missing", "a body of JSON is expected");
      }
      return bytes;
    }
    mustBe(Answer.JSON);
    return bytes;
  }

  private void mustBe(String type) {
    String encoding = header("Content-Encoding").orElse(IdentityEncoding.IDENTITY);
    if (!encoding.equalsIgnoreCase(IdentityEncoding.IDENTITY)) {
      throw new Problem(
          415,
          "unsupported_media_type",
          "the body is compressed: send it as it is, without the header Content-Encoding");
    }
    if (!isOfType(type)) {
      throw new Problem(
          415, "unsupported_media_type", "the request needs the header Content-Type: " + type);
    }
  }

  private boolean isOfType(String type) {
    String given = header("Content-Type").orElse("");
    return given.split(";", 2)[0].strip().toLowerCase(Locale.ROOT).equals(type);
  }

  private byte[] read() {
    InputStream in = request.content().inputStream();
    try {
      // Closing reads the rest of the body. If the body cannot be read, that would take as long as
      // the client likes; the connection ends instead.
      byte[] bytes =
          slowRequests.during(
              () -> {
                byte[] read = in.readNBytes(route.maxBody() + 1);
                in.close();
                return read;
              });
      if (bytes.length > route.maxBody()) {
        throw tooLarge();
      }
      return bytes;
    } catch (Problem large) {
      throw large;
    } catch (IOException | RuntimeException e) {
      throw incomplete();
    }
  }
}
