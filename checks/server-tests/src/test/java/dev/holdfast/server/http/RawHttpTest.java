package dev.holdfast.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.Holdfast;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.metrics.ServerMetrics;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that no HTTP client library would send. */
public class RawHttpTest extends ServerTest {
  private static final int TIMEOUT_MS = 60_000;
  private static final Pattern LENGTH = Pattern.compile("Content-Length: (\\d+)");
  private static final String END_OF_HEADERS = "\r\n\r\n";

  RawHttpTest(TestDatabase db) {
    super(db);
  }

  @Override
  public HoldfastServer started(Holdfast on, ServerOptions options) {
    return HoldfastServer.start(on, options, new ServerMetrics(), Duration.ofMillis(500));
  }

  /** The response until the server closes the connection. */
  private String sent(String request) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.url().getPort())) {
      socket.setSoTimeout(TIMEOUT_MS);
      OutputStream out = socket.getOutputStream();
      try {
        out.write(request.getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
      } catch (SocketException hungUp) {
        return "";
      }
      return read(socket.getInputStream());
    }
  }

  /** One whole response, or its part when the connection ends. */
  private static String read(InputStream in) {
    StringBuilder text = new StringBuilder();
    try {
      int read = 0;
      while (text.indexOf(END_OF_HEADERS) < 0 && read >= 0) {
        read = in.read();
        if (read >= 0) {
          text.append((char) read);
        }
      }
      Matcher length = LENGTH.matcher(text);
      int most = length.find() ? Integer.parseInt(length.group(1)) : Integer.MAX_VALUE;
      text.append(new String(in.readNBytes(most), StandardCharsets.ISO_8859_1));
    } catch (java.net.SocketTimeoutException stillOpen) {
      throw new AssertionError("the connection was left open after: " + text, stillOpen);
    } catch (IOException reset) {
      // A reset also ends the response.
    }
    return text.toString();
  }

  private static String get(String path, String... headers) {
    return "GET "
        + path
        + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        + String.join("", headers)
        + "\r\n";
  }

  private static String posted(String headers, String body) {
    String type = "Content-Type: application/json";
    return String.join(
        "\r\n", "POST /v1/jobs HTTP/1.1", "Host: localhost", type, headers, "", body);
  }

  private static void assertRefused(String answer, int status, String error) {
    assertThat(answer).startsWith("HTTP/1.1 " + status + " ");
    JsonNode body =
        Wire.tree(
            answer
                .substring(answer.indexOf('{'), answer.lastIndexOf('}') + 1)
                .getBytes(StandardCharsets.UTF_8));
    assertThat(answer.toLowerCase(Locale.ROOT)).contains("content-type: application/problem+json");
    assertThat(body.get("status").asInt()).isEqualTo(status);
    assertThat(body.get("type").asText()).isEqualTo("urn:holdfast:error:" + error);
    assertThat(body.get("title").asText()).isNotBlank();
    assertThat(body.get("detail")).isEqualTo(body.get("message"));
    assertThat(body.get("error").asText()).isEqualTo(error);
    assertThat(body.get("message").asText()).isNotBlank().doesNotContain("Exception", "helidon");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /he alth HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\nNo colon here\r\n\r\n",
        "GET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\nBad\u0000Name: x\r\n\r\n",
        "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n",
        "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"
      })
  void a_malformed_request_is_a_bad_request(String request) throws IOException {
    assertRefused(sent(request), 400, "bad_request");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
        "authorization: Bearer a\r\nAUTHORIZATION: Bearer a\r\n",
        "Origin: http://localhost\r\nOrigin: http://localhost\r\n",
        "Idempotency-Key: a\r\nIdempotency-Key: b\r\n",
        "Content-Type: application/json\r\nContent-Type: text/plain\r\n"
      })
  void a_header_that_decides_and_is_given_twice_is_refused(String headers) throws IOException {
    assertRefused(sent(get("/v1/jobs", headers)), 400, "bad_request");
  }

  @ParameterizedTest
  @CsvSource({
    "DELETE, /v1/jobs/cancel, POST",
    "GET, /v1/jobs/retry, POST",
    "PATCH, /v1/jobs/count, 'GET, HEAD'",
    "DELETE, /api/v1/jobs/ids, 'GET, HEAD'",
    "PUT, /v1/jobs/00000000-0000-7000-8000-000000000000, 'DELETE, GET, HEAD, PATCH'",
    "PUT, /v1/queues/depth, 'GET, HEAD, POST'"
  })
  void a_path_of_a_word_allows_its_own_methods(String method, String path, String allowed)
      throws IOException {
    String answer = sent(get(path).replaceFirst("GET", method));
    assertRefused(answer, 405, "method_not_allowed");
    assertThat(answer).contains("Allow: " + allowed + "\r\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/v1/jobs?q=%C0%AF", "/v1/jobs?q=%", "/v1/jobs/%C0%AF", "/v1/jobs?%ED%A0%80=1"})
  void an_address_that_is_no_utf_8_is_refused(String path) throws IOException {
    assertRefused(sent(get(path)), 400, "bad_request");
  }

  @ParameterizedTest
  @ValueSource(strings = {"c0af", "c080", "e080af", "eda080", "f08080af", "f5808080", "80", "c3"})
  void a_body_that_is_no_utf_8_is_refused(String hex) throws IOException {
    String bytes = new String(HexFormat.of().parseHex(hex), StandardCharsets.ISO_8859_1);
    String body = "{\"kind\":\"k\",\"payload\":\"" + bytes + "\"}";
    assertRefused(
        sent(posted("Connection: close\r\nContent-Length: " + body.length() + "\r\n", body)),
        400,
        "malformed_json");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "NONSENSE\r\n\r\n",
        "GET\r\n\r\n",
        "GET /health\r\n\r\n",
        "GET /health HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "\u0000\u0001\u0002\u0003\r\n\r\n"
      })
  void a_connection_that_does_not_begin_as_http_is_closed(String request) throws IOException {
    assertThat(sent(request)).doesNotContain(" 200 ", " 500 ");
  }

  @Test
  void a_uri_that_is_too_long_is_rejected() throws IOException {
    assertRefused(sent(get("/v1/jobs?q=" + "x".repeat(10_000))), 414, "uri_too_long");
  }

  @ParameterizedTest
  @CsvSource({"20000, 1", "10, 2000"})
  void headers_that_are_too_large_are_rejected(int length, int count) throws IOException {
    String headers = ("X-Large: " + "x".repeat(length) + "\r\n").repeat(count);
    assertRefused(sent(get("/openapi.yaml", headers)), 431, "headers_too_large");
  }

  @Test
  void a_connection_with_endless_headers_is_closed() throws IOException {
    assertThat(sent(get("/openapi.yaml", "X-Large: " + "x".repeat(100_000) + "\r\n")))
        .doesNotContain(" 200 ", " 500 ");
  }

  @Test
  void a_body_with_a_content_length_beyond_the_limit_is_not_read() throws IOException {
    assertRefused(sent(posted("Content-Length: 99999999999", "{")), 413, "body_too_large");
  }

  @Test
  void a_content_length_together_with_chunks_is_rejected() throws IOException {
    String answer =
        sent(
            posted(
                "Content-Length: 4\r\nTransfer-Encoding: chunked",
                "0\r\n\r\nGET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assertThat(answer).doesNotContain("HTTP/1.1 200").startsWith("HTTP/1.1 4");
  }

  @Test
  void malformed_chunks_are_rejected() throws IOException {
    assertThat(sent(posted("Transfer-Encoding: chunked", "zz\r\n{}\r\n0\r\n\r\n")))
        .startsWith("HTTP/1.1 400");
  }

  @Test
  void a_client_that_stalls_within_its_headers_is_disconnected() throws IOException {
    assertThat(sent("POST /v1/jobs HTTP/1.1\r\nHost: loc")).doesNotContain(" 200 ", " 500 ");
  }

  @Test
  void a_client_that_stalls_within_its_body_is_disconnected() throws IOException {
    assertThat(sent(posted("Content-Length: 100", "{\"kind\":"))).doesNotContain(" 201 ", " 500 ");
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isZero();
  }

  @Test
  void a_request_without_a_host_is_refused() throws IOException {
    assertThat(sent("GET /openapi.yaml HTTP/1.1\r\nConnection: close\r\n\r\n"))
        .startsWith("HTTP/1.1 4");
  }

  @ParameterizedTest
  @CsvSource({
    "evil.example",
    "evil.example:8420",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "0.0.0.0"
  })
  void an_unknown_host_name_is_rejected(String host) throws IOException {
    assertRefused(
        sent("GET /openapi.yaml HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"),
        403,
        "host_not_allowed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8420", "[::1]:8420"})
  void a_host_name_of_this_machine_is_accepted(String host) throws IOException {
    assertThat(
            sent("GET /openapi.yaml HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"))
        .startsWith("HTTP/1.1 200");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/jobs/%zz", "/v1/jobs/%", "/v1/jobs/%f", "/v1/jobs?q=%zz"})
  void a_path_that_is_not_well_encoded_is_a_bad_request(String path) throws IOException {
    assertRefused(sent(get(path)), 400, "bad_request");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/../../etc/passwd", "/v1/../v1/jobs", "/./openapi.yaml", "/openapi.yaml;x=1"})
  void a_path_that_is_not_normalized_is_rejected(String path) throws IOException {
    assertThat(sent(get(path))).doesNotContain("root:", " 500 ").contains("HTTP/1.1 40");
  }

  @Test
  void an_unsupported_method_is_answered_with_the_allowed_ones() throws IOException {
    String answer = sent("PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assertRefused(answer, 405, "method_not_allowed");
    assertThat(answer).contains("\r\nAllow: GET, HEAD, POST\r\n");
  }

  /** What a proxy sends by default. */
  @ParameterizedTest
  @ValueSource(strings = {"Connection: close\r\n", ""})
  void a_request_of_http_1_0_is_answered_and_the_connection_ended(String connection)
      throws IOException {
    String got =
        untilClosed("GET /openapi.yaml HTTP/1.0\r\nHost: localhost\r\n" + connection + "\r\n");
    assertThat(got).startsWith("HTTP/1.").contains(" 200 ", "openapi: 3.1");
    String body = "{\"kind\":\"old\"}";
    String posted =
        untilClosed(
            "POST /v1/jobs HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + connection
                + "Content-Length: "
                + body.length()
                + "\r\n\r\n"
                + body);
    assertThat(posted).contains(" 201 ", "\"duplicate\":false");
    assertThat(untilClosed("GET /nothing HTTP/1.0\r\nHost: localhost\r\n\r\n")).contains(" 404 ");
  }

  /** The response until the server closes the connection, which it must. */
  private String untilClosed(String request) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.url().getPort())) {
      socket.setSoTimeout(TIMEOUT_MS);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    } catch (SocketException reset) {
      return "";
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "zz\r\n{}\r\n0\r\n\r\n",
        "zz\r\n",
        "-1\r\n",
        "ffffffffffffffffff\r\n",
        "7fffffff\r\n{",
        "5",
        "5;ext\r\n{}",
        "2\r\n{}xx",
        "\r\n\r\n",
        "1111111111111111111111111111111111111111111111111111111111111111111111111"
      })
  void malformed_chunks_end_the_connection_in_time(String chunks) throws IOException {
    assertThat(untilClosed(posted("Transfer-Encoding: chunked", chunks)))
        .doesNotContain(" 201 ", " 500 ");
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/health", "/ready", "/v1/jobs", "/v1/queues", "/openapi.yaml", "/", "/docs"})
  void head_is_answered_wherever_get_is(String path) throws IOException {
    String got = sent(get(path));
    String head = untilClosed(get(path).replaceFirst("GET", "HEAD"));
    assertThat(head).startsWith("HTTP/1.1 200 ").endsWith(END_OF_HEADERS);
    Matcher length = LENGTH.matcher(got);
    assertThat(length.find()).isTrue();
    assertThat(head).contains(length.group());
  }

  @Test
  void head_is_answered_with_the_status_of_get_and_without_a_body() throws IOException {
    assertThat(untilClosed(get("/v1/jobs/nothing").replaceFirst("GET", "HEAD")))
        .startsWith("HTTP/1.1 400 ")
        .endsWith(END_OF_HEADERS);
    assertThat(untilClosed(get("/v1/jobs/cancel").replaceFirst("GET", "HEAD")))
        .startsWith("HTTP/1.1 405 ");
    assertThat(untilClosed(get("/v1/events").replaceFirst("GET", "HEAD")))
        .startsWith("HTTP/1.1 200 ")
        .endsWith(END_OF_HEADERS);
  }

  @Test
  void only_the_content_encoding_identity_is_accepted() throws IOException {
    String body = "{\"kind\":\"a\"}";
    String length = "Connection: close\r\nContent-Length: " + body.length() + "\r\n";
    assertThat(sent(posted(length + "Content-Encoding: identity", body))).contains(" 201 ");
    assertThat(sent(posted(length + "Content-Encoding: Identity", body))).contains(" 201 ");
    for (String other : List.of("gzip", "zstd", "br")) {
      assertThat(sent(posted(length + "Content-Encoding: " + other, body)))
          .as(other)
          .startsWith("HTTP/1.1 415 ")
          .contains("unsupported_media_type", "without the header Content-Encoding");
    }
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(2);
  }
}
