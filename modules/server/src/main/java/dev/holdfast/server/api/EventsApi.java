package dev.holdfast.server.api;

import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.server.auth.Authenticator;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.live.LiveFeeds;
import dev.holdfast.server.live.Subscriber;
import dev.holdfast.server.live.Topics;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Live state as server-sent events. */
public final class EventsApi {
  /** Interval of comments on a stream without events: proxies close silent connections. */
  private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(15);

  /**
   * Interval at which the caller's key and session are checked again. Keys are cached for a second,
   * so that a stream ends within a second and a half, whichever server revoked the key.
   */
  private static final Duration KEY_CHECK = Duration.ofMillis(500);

  private final LiveFeeds feeds;
  private final Authenticator authenticator;
  private final Duration signOfLife;

  public EventsApi(LiveFeeds feeds, Authenticator authenticator) {
    this(feeds, authenticator, SIGN_OF_LIFE);
  }

  public EventsApi(LiveFeeds feeds, Authenticator authenticator, Duration signOfLife) {
    this.feeds = feeds;
    this.authenticator = authenticator;
    this.signOfLife = signOfLife;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/events", Guard.READ, this::events).queries("topics", "lastEventId"));
  }

  private Answer events(Call call) {
    Topics topics = call.query("topics").map(Topics::parse).orElse(Topics.ALL);
    @Nullable String lastId =
        call.header("Last-Event-ID").or(() -> call.query("lastEventId")).orElse(null);
    Caller caller = call.caller();
    String client = caller.key().isEmpty() ? "at " + call.peer() : "key " + caller.key();
    Subscriber subscriber = new Subscriber(client, topics, Thread.currentThread());
    feeds.join(caller.tenant(), subscriber, lastId);
    return Answer.stream(
            "text/event-stream",
            out -> {
              try (out) {
                write(out, subscriber, caller);
              } finally {
                feeds.leave(caller.tenant(), subscriber);
              }
            })
        // The end of a stream is the end of its connection.
        .header("Connection", "close")
        .header("X-Accel-Buffering", "no")
        .unsent(() -> feeds.leave(caller.tenant(), subscriber));
  }

  private void write(OutputStream out, Subscriber subscriber, Caller caller) throws IOException {
    // Sent at once, so that the client sees that it is connected; retry says when to reconnect.
    send(out, ": holdfast\nretry: 2000\n\n");
    long checkedAt = System.nanoTime();
    long sentAt = checkedAt;
    try {
      while (true) {
        Subscriber.Taken taken = subscriber.take(KEY_CHECK);
        if (System.nanoTime() - checkedAt >= KEY_CHECK.toNanos()) {
          if (!mayStay(caller)) {
            return;
          }
          checkedAt = System.nanoTime();
        }
        StringBuilder text = new StringBuilder();
        taken.events().forEach(event -> text.append(event.text()));
        boolean silent = System.nanoTime() - sentAt >= signOfLife.toNanos();
        if (taken.events().isEmpty() && !taken.isOver() && silent) {
          text.append(": alive\n\n");
        }
        if (!text.isEmpty()) {
          send(out, text.toString());
          sentAt = System.nanoTime();
        }
        if (taken.isOver()) {
          return;
        }
      }
    } catch (InterruptedException cutOff) {
      Thread.currentThread().interrupt();
    }
  }

  private static void send(OutputStream out, String text) throws IOException {
    try {
      out.write(text.getBytes(StandardCharsets.UTF_8));
      out.flush();
    } catch (UncheckedIOException e) {
      throw new IOException(e);
    }
  }

  /**
   * Whether the key was revoked or the session ended since the stream began. The stream stays open
   * while the database cannot be asked.
   */
  private boolean mayStay(Caller caller) {
    try {
      return authenticator.isStillGood(caller);
    } catch (DatabaseException unavailable) {
      return true;
    }
  }
}
