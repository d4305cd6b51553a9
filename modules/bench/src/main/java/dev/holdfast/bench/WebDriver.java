package dev.holdfast.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A Chromium without a window, by the WebDriver protocol. */
final class WebDriver implements AutoCloseable {
  private static final Pattern PORT = Pattern.compile("successfully on port (\\d+)");
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient http = HttpClient.newHttpClient();
  private final Process driver;
  private final URI base;
  private final String session;

  private WebDriver(Process driver, URI base) throws IOException, InterruptedException {
    this.driver = driver;
    this.base = base;
    Map<String, Object> options =
        Map.of(
            "binary",
            "/usr/bin/chromium",
            "args",
            List.of("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000"));
    this.session =
        call(
                "/session",
                Map.of(
                    "capabilities",
                    Map.of(
                        "alwaysMatch",
                        Map.of(
                            "goog:chromeOptions", options, "timeouts", Map.of("script", 60_000)))))
            .get("sessionId")
            .asText();
  }

  static WebDriver start() throws IOException, InterruptedException {
    Process driver =
        new ProcessBuilder("chromedriver", "--port=0")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    BufferedReader lines = driver.inputReader();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Matcher port = PORT.matcher(line);
      if (port.find()) {
        return new WebDriver(driver, URI.create("http://127.0.0.1:" + port.group(1)));
      }
    }
    throw new IOException(
        "chromedriver does not start (on Debian: apt-get install chromium-driver)");
  }

  void open(String address) throws IOException, InterruptedException {
    call("/session/" + session + "/url", Map.of("url", address));
  }

  /** The script hands its result to the last of its arguments. */
  JsonNode later(String script, String... arguments) throws IOException, InterruptedException {
    return call(
        "/session/" + session + "/execute/async", Map.of("script", script, "args", arguments));
  }

  private JsonNode call(String path, Object body) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(base.resolve(path))
                .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body)))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    JsonNode value = JSON.readTree(answer.body()).path("value");
    if (answer.statusCode() != 200) {
      throw new IOException(value.path("message").asText());
    }
    return value;
  }

  /** Without a word to it: its browser ends with it. */
  @Override
  public void close() {
    driver.descendants().forEach(ProcessHandle::destroy);
    driver.destroy();
    http.close();
  }
}
