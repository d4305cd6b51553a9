package dev.holdfast.server.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Listens to live events, as a page would. */
public final class LiveStream implements AutoCloseable {
  private static final int SECONDS = 120;

  public record Event(String id, String topic, JsonNode data) {}

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
  private final List<Event> all = new ArrayList<>();
  private final AtomicInteger signsOfLife = new AtomicInteger();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final HttpResponse<Stream<String>> response;
  private volatile boolean whole;

  private LiveStream(URI uri, @Nullable String name, @Nullable String value) {
    HttpRequest.Builder request = HttpRequest.newBuilder(uri).header("Accept", "text/event-stream");
    if (name != null && value != null) {
      request.header(name, value);
    }
    try {
      response = http.send(request.build(), BodyHandlers.ofLines());
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("Content-Type")).contains("text/event-stream");
    Thread.ofVirtual().start(this::read);
  }

  public static LiveStream open(URI server, String query, @Nullable String bearer) {
    return bearer == null
        ? new LiveStream(URI.create(server + "/v1/events" + query), null, null)
        : new LiveStream(
            URI.create(server + "/v1/events" + query), "Authorization", "Bearer " + bearer);
  }

  public static LiveStream withCookie(URI server, String query, String cookie) {
    return new LiveStream(URI.create(server + "/v1/events" + query), "Cookie", cookie);
  }

  public static LiveStream resume(URI server, String query, String lastId) {
    return new LiveStream(URI.create(server + "/v1/events" + query), "Last-Event-ID", lastId);
  }

  private void read() {
    try (Stream<String> lines = response.body()) {
      String[] parts = {"", ""};
      lines.forEach(
          line -> {
            if (line.startsWith("id: ")) {
              parts[0] = line.substring(4);
            } else if (line.startsWith("event: ")) {
              parts[1] = line.substring(7);
            } else if (line.equals(": alive")) {
              signsOfLife.incrementAndGet();
            } else if (line.startsWith("data: ")) {
              JsonNode data = Wire.tree(line.substring(6).getBytes(StandardCharsets.UTF_8));
              events.add(new Event(parts[0], parts[1], data));
            }
          });
      whole = true;
    } catch (UncheckedIOException cutOff) {
      // said by awaitEnd
    } finally {
      ended.countDown();
    }
  }

  /** The next event of a topic that matches; events before it are skipped. */
  public Event next(String topic, Predicate<JsonNode> like) {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    while (true) {
      Event event = poll(until - System.nanoTime());
      if (event == null) {
        throw new AssertionError("nothing like it on " + topic + "; what came: " + all);
      }
      if (event.topic().equals(topic) && like.test(event.data())) {
        return event;
      }
    }
  }

  public Event next(String topic) {
    return next(topic, data -> true);
  }

  /** An event of a topic, among those received or the next one. */
  Event heard(String topic) {
    return all.stream()
        .filter(event -> event.topic().equals(topic))
        .findFirst()
        .orElseGet(() -> next(topic));
  }

  public Event next() {
    Event event = poll(TimeUnit.SECONDS.toNanos(SECONDS));
    return event == null ? fail("nothing came") : event;
  }

  private @Nullable Event poll(long nanos) {
    try {
      Event event = events.poll(nanos, TimeUnit.NANOSECONDS);
      if (event != null) {
        all.add(event);
      }
      return event;
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  /** The next event about a job. */
  Event job(String id, String state) {
    return next(
        Topics.JOBS,
        data -> {
          for (JsonNode job : data.get("jobs")) {
            if (job.get("id").asText().equals(id) && job.get("state").asText().equals(state)) {
              return true;
            }
          }
          return false;
        });
  }

  public int signsOfLife() {
    return signsOfLife.get();
  }

  /** The events received so far. */
  public List<Event> all() {
    return all;
  }

  public void awaitEnd() throws InterruptedException {
    assertThat(ended.await(SECONDS, TimeUnit.SECONDS)).as("the stream has ended").isTrue();
    assertThat(whole).as("the stream has its last chunk").isTrue();
  }

  @Override
  public void close() {
    http.shutdownNow();
    http.close();
  }
}
