package dev.holdfast.simulation.compare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.testkit.Soon;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A server on real time, and clients that it must not trust: a task's token works for its own
 * attempt alone, and a reader of events that resumes misses none.
 */
public final class ServerRounds implements AutoCloseable {
  private static final String QUEUE = "q";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final TestDatabase database = TestDatabase.fresh();
  private final Holdfast holdfast = Holdfast.on(database.dataSource());
  private final HoldfastServer server =
      HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0));
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** A task as it was leased. */
  private record Task(String id, int attempt, String token) {}

  /** What went wrong first in so many rounds; null when nothing did. */
  public @Nullable String differs(long seed, int rounds) throws Exception {
    Random random = Scheduler.randomOf(seed);
    for (int round = 0; round < rounds; round++) {
      String wrong = round % 4 == 3 ? resumed(random) : tokens(random);
      if (wrong != null) {
        return "round %d: %s".formatted(round, wrong);
      }
    }
    return null;
  }

  // ---- tokens

  /** A job that was leased two or three times; any of the tokens, with any attempt in the body. */
  private @Nullable String tokens(Random random) throws Exception {
    JobId job = holdfast.enqueue(Job.of("kind").queue(QUEUE)).id();
    List<Task> leased = new ArrayList<>();
    int attempts = 2 + random.nextInt(2);
    for (int i = 1; i <= attempts; i++) {
      leased.add(lease(job));
      if (i < attempts) {
        database.expireLease(job.value());
        Object unused = holdfast.store().maintenance().reap(Duration.ZERO);
      }
    }
    Task last = leased.getLast();
    Task used = leased.get(random.nextInt(leased.size()));
    int named = 1 + random.nextInt(attempts);
    String callback = random.nextBoolean() ? "heartbeat" : "completed";
    int status =
        post(
            "/v1/tasks/" + last.id() + "/" + callback,
            Map.of("attempt", named, "workerId", "w", "outcome", "SUCCEEDED"),
            used.token());
    boolean mayWork = used.attempt() == named && named == last.attempt();
    String did =
        "%s of attempt %d with the token of attempt %d, while attempt %d runs, answers %d"
            .formatted(callback, named, used.attempt(), last.attempt(), status);
    if (mayWork ? status != 200 : status == 200) {
      return did;
    }
    if (status >= 500) {
      return did;
    }
    // What is left is out of the way of the next round.
    if (!(mayWork && callback.equals("completed"))) {
      int unused =
          post(
              "/v1/tasks/" + last.id() + "/completed",
              Map.of("attempt", last.attempt(), "workerId", "w", "outcome", "SUCCEEDED"),
              last.token());
    }
    return null;
  }

  /** Of the only job that is there, as soon as it can be leased again. */
  private Task lease(JobId job) throws IOException, InterruptedException {
    long until = System.nanoTime() + Soon.SOON.toNanos();
    while (true) {
      HttpResponse<String> response =
          send("/v1/queues/" + QUEUE + "/lease", Map.of("workerId", "w"), null);
      JsonNode task = JSON.readTree(response.body()).path("tasks").path(0);
      if (task.path("taskId").asText().equals(job.toString())) {
        return new Task(
            job.toString(), task.path("attempt").asInt(), task.path("taskToken").asText());
      }
      if (!task.isMissingNode() || System.nanoTime() > until) {
        throw new IllegalStateException("job %s is not leased: %s".formatted(job, response.body()));
      }
      Thread.sleep(20);
    }
  }

  private int post(String path, Map<String, ?> body, String token)
      throws IOException, InterruptedException {
    return send(path, body, token).statusCode();
  }

  private HttpResponse<String> send(String path, Map<String, ?> body, @Nullable String token)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(server.url() + path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body)));
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    return http.send(request.build(), BodyHandlers.ofString());
  }

  // ---- events

  /** Reads some events, leaves, comes back with the last id, and must find the next number. */
  private @Nullable String resumed(Random random) throws Exception {
    String last;
    try (Reader first = new Reader(null)) {
      last = first.read(2 + random.nextInt(3));
    }
    // These are events that only another reader sees.
    String unread = last;
    try (Reader other = new Reader(null)) {
      for (long until = number(last) + 3 + random.nextInt(3); number(unread) < until; ) {
        unread = other.read(1);
      }
    }
    try (Reader again = new Reader(last)) {
      String next = again.read(1);
      return number(next) == number(last) + 1
          ? null
          : "a reader that left after event %s got %s next, though %s was sent"
              .formatted(last, next, unread);
    }
  }

  private static long number(String id) {
    String text = id.substring(id.lastIndexOf('-') + 1);
    return text.chars().allMatch(Character::isDigit) ? Long.parseLong(text) : -1;
  }

  /** A client of the stream of events. */
  private final class Reader implements AutoCloseable {
    private final Stream<String> stream;
    private final Iterator<String> lines;

    Reader(@Nullable String lastId) throws IOException, InterruptedException {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(server.url() + "/v1/events"))
              .header("Accept", "text/event-stream");
      if (lastId != null) {
        request.header("Last-Event-ID", lastId);
      }
      HttpResponse<Stream<String>> response = http.send(request.build(), BodyHandlers.ofLines());
      this.stream = response.body();
      this.lines = stream.iterator();
      if (response.statusCode() != 200) {
        stream.close();
        throw new IllegalStateException("a stream of events is refused: " + response);
      }
    }

    /** The id of the last of so many numbered events. */
    String read(int events) {
      long until = System.nanoTime() + Soon.SOON.toNanos();
      String last = "";
      for (int read = 0; read < events; ) {
        // Something must happen for events to come.
        Object unused = holdfast.enqueue(Job.of("seen").queue("other"));
        for (String line = next(until); !line.isEmpty(); line = next(until)) {
          if (line.startsWith("id: ") && number(line) >= 0) {
            last = line.substring("id: ".length());
            read++;
          }
        }
      }
      return last;
    }

    /** Also without events there is a line every few seconds. */
    private String next(long until) {
      if (!lines.hasNext() || System.nanoTime() > until) {
        throw new IllegalStateException("the stream of events ended, or brings none");
      }
      return lines.next();
    }

    @Override
    public void close() {
      stream.close();
    }
  }

  @Override
  public void close() {
    server.close();
    holdfast.close();
    database.close();
  }
}
