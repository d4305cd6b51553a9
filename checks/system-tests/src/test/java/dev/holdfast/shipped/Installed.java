package dev.holdfast.shipped;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.TestServer;
import dev.holdfast.testkit.program.Processes;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** An installed Holdfast with an empty database. */
final class Installed implements AutoCloseable {
  private final List<String> launcher;
  private final Path folder;
  private final Map<String, String> environment = new HashMap<>();
  private final Deque<ChildProcess> children = new ArrayDeque<>();
  private final Path data = Processes.freshFolder();
  // Not one of DatabaseExtension, which migrates the schema: a new installation has none.
  private final EmbeddedPostgres server = EmbeddedPostgres.start(TestServer.options(data));

  /**
   * @param folder where it is started, and where it may write
   * @param launcher the command to which the arguments are added
   */
  Installed(Path folder, String... launcher) {
    this.folder = folder;
    this.launcher = List.of(launcher);
    environment.put("HOLDFAST_DATABASE_URL", server.jdbcUrl().replaceFirst("^jdbc:", ""));
    environment.put("HOLDFAST_DATABASE_USER", server.user());
    environment.put("HOLDFAST_DATABASE_PASSWORD", server.password());
    environment.put("HOLDFAST_DATABASE_ALLOW_UNSAFE", "1");
  }

  Installed with(String variable, String value) {
    environment.put(variable, value);
    return this;
  }

  ChildProcess start(String... arguments) {
    List<String> command = new ArrayList<>(launcher);
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    NewUser.environment(builder.environment());
    builder.environment().putAll(environment);
    ChildProcess child = ChildProcess.start(builder);
    children.push(child);
    return child;
  }

  List<String> run(String... arguments) {
    ChildProcess child = start(arguments);
    assertThat(child.awaitExit(SOON)).as("%s", child.lines()).isZero();
    return child.lines();
  }

  /** From an empty database to a succeeded job and a clean stop, for every distribution. */
  void assertWorks() throws IOException, InterruptedException {
    assertThat(run("migrate").getLast()).contains("the schema is ");
    ChildProcess server = start("server", "--port", "0", "--host", "127.0.0.1");
    URI url = URI.create(server.awaitLine("(http://127[^\\s\"]+)", SOON).group(1));
    for (String path : List.of("/health", "/ready", "/")) {
      HttpResponse<String> response =
          HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(url.resolve(path)).build(),
                  HttpResponse.BodyHandlers.ofString());
      assertThat(response.statusCode()).as(path).isEqualTo(200);
    }
    ChildProcess workers = start("supervise", "--queue", "default", "--examples");
    workers.awaitLine("ready: default: 1 process of 10", SOON);
    assertThat(run("enqueue", "echo", "{\"n\": 1}", "--watch").getLast()).contains("SUCCEEDED");
    for (ChildProcess child : List.of(workers, server)) {
      child.signal("TERM");
      assertThat(child.awaitExit(SOON)).as("%s", child.lines()).isZero();
      assertThat(child.lines()).contains("stopped");
    }
  }

  @Override
  public void close() {
    children.forEach(ChildProcess::close);
    server.kill();
    Processes.delete(data);
  }
}
