package dev.holdfast.server.live;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Holdfast;
import dev.holdfast.contract.token.Secrets;
import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.operate.Diagnostics;
import dev.holdfast.queue.JobStore;
import dev.holdfast.server.Client;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.api.EventsApi;
import dev.holdfast.server.auth.Authenticator;
import dev.holdfast.server.auth.HostOriginPolicy;
import dev.holdfast.server.auth.Keyring;
import dev.holdfast.server.auth.Sessions;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.http.RequestObserver;
import dev.holdfast.server.http.SlowRequestTimeout;
import dev.holdfast.server.routing.AnswerCache;
import dev.holdfast.server.routing.RequestHandler;
import dev.holdfast.server.routing.Router;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestDatabase;
import io.helidon.webserver.WebServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Limits on the number of subscribers and on how far each may lag behind. */
@ExtendWith(DatabaseExtension.class)
class LiveLimitsTest {
  private static final int MOST = 3;
  private static final int MOST_OF_ONE = 2;
  private static final Duration SIGN_OF_LIFE = Duration.ofMillis(200);
  private static final Duration HALF_A_REST = Duration.ofSeconds(5);
  private static final String TOPIC = "queue:x:status";

  private final TestDatabase db;
  private final Holdfast holdfast;
  private final LiveFeeds feeds;
  private final WebServer web;
  private final URI url;

  LiveLimitsTest(TestDatabase db) {
    this.db = db;
    holdfast = Holdfast.on(db.dataSource());
    JobStore store = holdfast.store();
    ServerOptions options = ServerOptions.DEFAULT.port(0);
    Diagnostics problems = new Diagnostics(store, name -> false, () -> false, options.timings());
    feeds = new LiveFeeds(store, problems, Clock.systemUTC(), MOST, MOST_OF_ONE);
    Keyring keyring = new Keyring(store.admin());
    TaskTokens tokens = new TaskTokens(keyring, options.tokens(), Clock.systemUTC());
    SlowRequestTimeout timeout = new SlowRequestTimeout(Duration.ofSeconds(15));
    Authenticator gate =
        new Authenticator(
            store.admin(),
            tokens,
            new Sessions(keyring, Clock.systemUTC()),
            options,
            store.queries()::heldWithin);
    RequestHandler handler =
        new RequestHandler(
            new Router(new EventsApi(feeds, gate, SIGN_OF_LIFE).routes()),
            gate,
            new HostOriginPolicy(options),
            timeout,
            new AnswerCache(feeds::lastEvent),
            RequestObserver.NONE);
    web = HoldfastServer.web(options, handler, timeout);
    url = URI.create("http://127.0.0.1:" + web.port());
  }

  @AfterEach
  void stop() {
    feeds.close();
    web.stop();
    holdfast.close();
  }

  private void say(int from, int until) {
    for (int i = from; i < until; i++) {
      feeds.feed(Tenant.ANY).publish(TOPIC, Map.of("n", i, "filler", "x".repeat(1_000)));
    }
  }

  /** Sends a request and does not read the response. */
  private Socket silent() throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(4_096);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), url.getPort()));
    socket
        .getOutputStream()
        .write(
            "GET /v1/events?topics=queue:x:* HTTP/1.1\r\nHost: localhost\r\n\r\n"
                .getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  /** A slow poll is followed by a rest of ten seconds; a page that is opened then is not empty. */
  @Test
  @OnlyWithRelease
  void a_new_subscriber_does_not_wait_for_the_end_of_a_rest() throws Exception {
    List<Duration> waits = new ArrayList<>();
    // Several times, because the machine may stall for as long as a rest.
    do {
      waits.add(waitAfterSlowPoll());
    } while (waits.getLast().compareTo(HALF_A_REST) > 0 && waits.size() < 4);
    assertThat(waits.getLast()).as("waits: %s", waits).isLessThan(HALF_A_REST);
  }

  private Duration waitAfterSlowPoll() throws Exception {
    String topic = "?topics=queue:status";
    try (Connection slow = db.connection();
        Statement lock = slow.createStatement()) {
      slow.setAutoCommit(false);
      lock.execute("LOCK TABLE holdfast.job IN ACCESS EXCLUSIVE MODE");
      try (LiveStream first = LiveStream.open(url, topic, null)) {
        await()
            .atMost(SOON)
            .until(
                () ->
                    db.count(
                            "SELECT count(*) FROM pg_stat_activity"
                                + " WHERE datname = ? AND wait_event_type = 'Lock'",
                            db.name())
                        > 0);
        Thread.sleep(1_500); // which the poll takes, and nine times of which it rests
        slow.rollback();
        first.next("queue:status");
      }
    }
    await().atMost(SOON).until(() -> feeds.subscribers() == 0);
    long opened = System.nanoTime();
    try (LiveStream second = LiveStream.open(url, topic, null)) {
      second.next("queue:status");
      return Duration.ofNanos(System.nanoTime() - opened);
    }
  }

  @Test
  void a_slow_subscriber_is_disconnected_and_the_others_continue() throws Exception {
    try (Socket slow = silent();
        LiveStream quick = LiveStream.open(url, "?topics=queue:x:*", null)) {
      await().atMost(SOON).until(() -> feeds.subscribers() == 2);
      int said = 0;
      while (feeds.feed(Tenant.ANY).subscribers().stream()
          .noneMatch(subscriber -> subscriber.isStuckSince(Duration.ZERO))) {
        say(said, said + 500);
        said += 500;
        int last = said - 1;
        quick.next(TOPIC, data -> data.get("n").asInt() == last);
        assertThat(said).as("said to one who does not read").isLessThan(100_000);
      }
      say(said, said + 1);
      int last = said;
      quick.next(TOPIC, data -> data.get("n").asInt() == last);

      // When the slow subscriber reads again, its last event is a reset.
      slow.setSoTimeout(30_000);
      String heard = new String(slow.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(heard).contains("event: reset").contains("slow_reader");
      assertThat(heard.indexOf("event: reset")).isGreaterThan(heard.lastIndexOf("event: queue"));
      await().atMost(SOON).until(() -> feeds.subscribers() == 1);
      assertThat(quick.all()).extracting(LiveStream.Event::topic).doesNotContain("reset");
    }
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_subscriber_that_stops_reading_is_disconnected() throws Exception {
    try (Socket slow = silent()) {
      await().atMost(SOON).until(() -> feeds.subscribers() == 1);
      for (int said = 0;
          feeds.feed(Tenant.ANY).subscribers().stream()
              .noneMatch(subscriber -> subscriber.isStuckSince(Duration.ZERO));
          said += 500) {
        say(said, said + 500);
      }
      await().atMost(SOON).until(() -> feeds.subscribers() == 0);
      assertThat(slow.isConnected()).isTrue();
    }
  }

  @Test
  void the_number_of_subscribers_is_limited() {
    String key = key();
    try (LiveStream one = LiveStream.open(url, "", key);
        LiveStream two = LiveStream.open(url, "", key)) {
      try (LiveStream three = LiveStream.open(url, "", key())) {
        three.next("system:health");
        Client client = new Client(url);
        client.get("/v1/events", key()).is(503, "too_many_subscribers");
      }
      await()
          .atMost(SOON)
          .until(
              () -> {
                feeds.feed(Tenant.of("ours")).publish(TOPIC, Map.of("at", System.nanoTime()));
                return feeds.subscribers() == 2;
              });
      LiveStream.open(url, "", key()).close();
      one.next("system:health");
      two.next("system:health");
    }
  }

  @Test
  void the_number_of_subscriptions_per_client_is_limited() {
    String busy = key();
    try (LiveStream one = LiveStream.open(url, "", busy);
        LiveStream two = LiveStream.open(url, "", busy)) {
      one.next("system:health");
      two.next("system:health");
      Client.Reply refused = new Client(url).get("/v1/events", busy).is(429, "too_many_streams");
      assertThat(refused.response().headers().firstValue("Retry-After")).isPresent();
      try (LiveStream other = LiveStream.open(url, "", key())) {
        other.next("system:health");
      }
    }
  }

  @Test
  void a_closed_subscription_frees_its_place() {
    String key = key();
    for (int i = 0; i < 3; i++) {
      try (LiveStream one = LiveStream.open(url, "", key);
          LiveStream two = LiveStream.open(url, "", key)) {
        one.next("system:health");
        two.next("system:health");
      }
      await()
          .atMost(SOON)
          .until(
              () -> {
                feeds.feed(Tenant.of("ours")).publish(TOPIC, Map.of("at", System.nanoTime()));
                return feeds.subscribers() == 0;
              });
    }
  }

  private String key() {
    Secrets.Parts parts = Secrets.next();
    ApiKey key = new ApiKey(parts.id(), "test", Role.VIEWER, "ours", Instant.EPOCH, null, null);
    holdfast.store().admin().createKey(key, parts.digest(), null);
    return parts.text();
  }

  @Test
  void keep_alive_comments_are_sent_while_nothing_changes() {
    try (LiveStream live = LiveStream.open(url, "?topics=system:health", null)) {
      live.next("system:health");
      await().atMost(SOON).until(() -> live.signsOfLife() >= 3);
    }
  }

  @Test
  void a_subscriber_whose_key_is_revoked_gets_no_more_events() throws InterruptedException {
    Secrets.Parts parts = Secrets.next();
    ApiKey key = new ApiKey(parts.id(), "test", Role.VIEWER, "ours", Instant.EPOCH, null, null);
    holdfast.store().admin().createKey(key, parts.digest(), null);
    try (LiveStream live = LiveStream.open(url, "?topics=system:health", parts.text())) {
      live.next("system:health");
      holdfast.store().admin().revokeKey(parts.id(), Duration.ZERO);
      live.awaitEnd();
    }
  }

  @Test
  void closing_ends_all_subscriptions() throws Exception {
    try (LiveStream live = LiveStream.open(url, "", null)) {
      live.next("system:health");
      feeds.close();
      live.awaitEnd();
    }
  }

  @Test
  void a_subscriber_that_missed_more_than_is_kept_is_reset() {
    String first;
    try (LiveStream live = LiveStream.open(url, "?topics=queue:x:*,system:health", null)) {
      live.next("system:health");
      say(0, 1);
      first = live.next(TOPIC).id();
    }
    say(1, 500);
    try (LiveStream live = LiveStream.resume(url, "?topics=queue:x:*", first)) {
      for (int n = 1; n < 500; n++) {
        assertThat(live.next().data().get("n").asInt()).isEqualTo(n);
      }
    }
    say(500, 5_000);
    try (LiveStream live = LiveStream.resume(url, "?topics=queue:x:*", first)) {
      assertThat(live.next().topic()).isEqualTo("reset");
      assertThat(live.next().data().get("n").asInt()).isEqualTo(4_999);
    }
  }
}
