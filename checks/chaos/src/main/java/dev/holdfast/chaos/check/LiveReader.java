package dev.holdfast.chaos.check;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.chaos.fleet.Database;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A client of the stream of live events, which reconnects with the last id whenever its connection
 * or the server is gone. What it believes of each job must be so in the end.
 */
public final class LiveReader {
  private static final Duration QUIET = Duration.ofSeconds(60);

  private final URI events;
  private final ObjectMapper mapper = new ObjectMapper();
  private final Map<String, String> states = new HashMap<>();
  private final Thread thread = Thread.ofPlatform().daemon().name("live").unstarted(this::run);
  private volatile boolean stopped;
  private String lastId = "";
  private String event = "";
  private long received;
  private long connections;

  public LiveReader(int port) {
    this.events = URI.create("http://127.0.0.1:" + port + "/v1/events?topics=queue:jobs");
  }

  public LiveReader start() {
    thread.start();
    return this;
  }

  private void run() {
    try (HttpClient http = HttpClient.newBuilder().connectTimeout(QUIET).build()) {
      while (!stopped) {
        try {
          read(http);
        } catch (IOException broken) {
          TimeUnit.MILLISECONDS.sleep(200);
        }
      }
    } catch (InterruptedException end) {
      // The run is over.
    }
  }

  private void read(HttpClient http) throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(events);
    if (!lastId.isEmpty()) {
      request.header("Last-Event-ID", lastId);
    }
    HttpResponse<Stream<String>> response =
        http.send(request.build(), HttpResponse.BodyHandlers.ofLines());
    if (response.statusCode() != 200) {
      response.body().close();
      throw new IOException("answer " + response.statusCode());
    }
    connected();
    try (Stream<String> lines = response.body()) {
      Iterator<String> each = lines.iterator();
      while (!stopped && each.hasNext()) {
        line(each.next());
      }
    } catch (RuntimeException broken) {
      throw new IOException(broken);
    }
  }

  private synchronized void connected() {
    connections++;
  }

  synchronized void line(String line) throws IOException {
    if (line.startsWith("id: ")) {
      lastId = line.substring(4);
    } else if (line.startsWith("event: ")) {
      event = line.substring(7);
    } else if (line.startsWith("data: ")) {
      data(line.substring(6));
    }
  }

  private void data(String json) throws IOException {
    received++;
    if (event.equals("reset")) {
      states.clear();
      return;
    }
    JsonNode data = mapper.readTree(json);
    for (JsonNode job : data.path("jobs")) {
      states.put(job.path("id").asText(), job.path("state").asText());
    }
    for (JsonNode dropped : data.path("dropped")) {
      states.remove(dropped.asText());
    }
  }

  /** Waits a moment for the last events: the server looks about once a second. */
  public Finding stop(Database database) throws SQLException, InterruptedException {
    long end = System.nanoTime() + QUIET.toNanos();
    Finding finding = finding(database);
    while (!finding.holds() && System.nanoTime() < end) {
      TimeUnit.MILLISECONDS.sleep(500);
      finding = finding(database);
    }
    stopped = true;
    thread.interrupt();
    return finding;
  }

  synchronized Finding finding(Database database) throws SQLException {
    Map<String, String> now = new HashMap<>();
    for (String row : database.texts("SELECT id || ' ' || state FROM holdfast.job")) {
      now.put(row.substring(0, row.indexOf(' ')), row.substring(row.indexOf(' ') + 1));
    }
    List<String> wrong = new ArrayList<>();
    states.forEach(
        (job, state) -> {
          if (!state.equals(now.get(job))) {
            wrong.add(job + " is " + now.get(job) + ", the stream said " + state);
          }
        });
    if (received == 0) {
      wrong.add("no event in " + connections + " connections");
    }
    return new Finding("the live stream ends with the state of the jobs", received, wrong);
  }
}
