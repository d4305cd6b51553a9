package dev.holdfast.sdk;

import static dev.holdfast.testkit.Soon.SOON;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.program.AssembledProgram;
import dev.holdfast.testkit.program.Processes;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.Map;

/** The environment variables that tell a script which server to use or how to start its own. */
final class SdkServer {
  /** As the conformance kit has them for servers of its own. */
  private static final Map<String, String> SETTINGS =
      Map.of(
          "HEARTBEAT_INTERVAL_MS", "1000",
          "HEARTBEAT_TIMEOUT_MS", "10000",
          "CANCEL_GRACE_PERIOD_MS", "6000",
          "TOKEN_TTL_SECONDS", "5",
          "HOLDFAST_RETRIES_DELAY", "1s",
          "HOLDFAST_RETRIES_FACTOR", "1",
          "HOLDFAST_SERVER_REQUESTS_PER_SECOND", "0",
          "HOLDFAST_DISPATCH_ALLOW", "127.0.0.1");

  // A holder, so that it is started by the first test that needs it.
  private static final class Holder {
    static final Map<String, String> VARIABLES = start();
  }

  private SdkServer() {}

  /** Environment variables that name it, and a key. */
  static Map<String, String> shared() {
    return Holder.VARIABLES;
  }

  /** Environment variables for a script that starts, kills and restarts its own servers. */
  static Map<String, String> own(TestDatabase database) {
    Map<String, String> variables = new HashMap<>();
    variables.put(
        "CONFORMANCE_DATABASE_URL",
        "postgresql://%s:%s@127.0.0.1:%d/%s"
            .formatted(database.user(), database.password(), database.port(), database.name()));
    variables.put("HOLDFAST_DATABASE_ALLOW_UNSAFE", "true");
    variables.put("HOLDFAST_JAVA_OPTS", AssembledProgram.serverOptions());
    return variables;
  }

  private static Map<String, String> start() {
    TestDatabase database = TestDatabase.fresh();
    Processes processes = new Processes();
    Runtime.getRuntime().addShutdownHook(new Thread(processes::close));
    var launch = processes.launch("server").on(database);
    SETTINGS.forEach(launch::env);
    ChildProcess server = launch.start();
    String url = server.awaitLine("^ready: .* at (http://127.0.0.1:\\d+)", SOON).group(1);
    return Map.of("CONFORMANCE_SERVER", url, "CONFORMANCE_ADMIN_KEY", adminKey(url));
  }

  private static String adminKey(String url) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url + "/v1/keys"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{\"name\":\"sdk\",\"role\":\"admin\"}"))
            .build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      String answer = client.send(request, HttpResponse.BodyHandlers.ofString()).body();
      return new ObjectMapper().readTree(answer).path("key").asText();
    } catch (IOException failed) {
      throw new IllegalStateException("no key from " + url, failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }
}
