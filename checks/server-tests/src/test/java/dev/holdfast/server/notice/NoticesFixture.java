package dev.holdfast.server.notice;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.Holdfast;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.token.WebhookSecret;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.AfterEach;

/** A receiver of notices, servers that send them, and jobs that ask. */
abstract class NoticesFixture extends ServerTest {
  static final String SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
  static final String HIDDEN = "hidden-in-the-url";
  static final Question RAISE = Question.of("Raise the limit?");

  final BlockingQueue<Received> received = new LinkedBlockingQueue<>();
  final List<AutoCloseable> senders = new ArrayList<>();
  final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  final HttpServer receiver;

  /** The status of an answer; a negative one is no answer. */
  volatile ToIntFunction<Received> answer = notice -> 204;

  /** A notice as it came. */
  record Received(String id, String timestamp, String signature, byte[] body) {
    JsonNode json() {
      return Wire.tree(body);
    }

    JsonNode data() {
      return json().get("data");
    }

    URI link() {
      return URI.create(data().at("/links/decide").asText());
    }
  }

  NoticesFixture(TestDatabase db) {
    super(db);
    try {
      receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    receiver.setExecutor(threads);
    receiver.createContext("/hook", this::receive);
    receiver.start();
  }

  private void receive(HttpExchange exchange) throws IOException {
    Received notice =
        new Received(
            exchange.getRequestHeaders().getFirst("webhook-id"),
            exchange.getRequestHeaders().getFirst("webhook-timestamp"),
            exchange.getRequestHeaders().getFirst("webhook-signature"),
            exchange.getRequestBody().readAllBytes());
    received.add(notice);
    int status = answer.applyAsInt(notice);
    if (status >= 0) {
      exchange.getResponseHeaders().set("Location", "/elsewhere");
      exchange.sendResponseHeaders(status, -1);
      exchange.close();
    }
  }

  URI hook() {
    return URI.create(
        "http://127.0.0.1:" + receiver.getAddress().getPort() + "/hook?token=" + HIDDEN);
  }

  /** Another server of the database, which sends notices. */
  HoldfastServer sender() {
    return sender(hook());
  }

  HoldfastServer sender(URI to) {
    ServerOptions options =
        ServerOptions.DEFAULT
            .port(0)
            .notices(new ServerOptions.Receiver(to, WebhookSecret.parse(SECRET)));
    Holdfast own = Holdfast.on(db.dataSource());
    HoldfastServer started = HoldfastServer.start(own, options);
    senders.add(started);
    senders.add(own);
    return started;
  }

  @AfterEach
  void closeSenders() throws Exception {
    for (AutoCloseable each : senders) {
      each.close();
    }
    receiver.stop(0);
    threads.shutdownNow();
  }

  /** A job whose handler asks now. */
  JobId asks(Question question) {
    return asks(Job.of("raise").queue(QUEUE), question);
  }

  JobId asks(Job job, Question question) {
    JobId id = holdfast.enqueue(job).id();
    ask(id, question);
    return id;
  }

  /**
   * The handler of a job that can be claimed asks, under the id that it may have asked under
   * before.
   */
  void ask(JobId job, Question question) {
    Lease lease =
        holdfast.jobs().claim(new ClaimRequest(QUEUE, 1, "w", SOON)).jobs().getFirst().lease();
    assertThat(lease.job()).isEqualTo(job);
    holdfast.jobs().suspend(new Suspension(lease, 1, new Wait.ForApproval("limit", question)));
  }

  Received next() {
    try {
      Received notice = received.poll(SOON.toSeconds(), TimeUnit.SECONDS);
      assertThat(notice).as("a notice").isNotNull();
      return notice;
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  List<Notice> notices() {
    return holdfast.store().notices().notices(null, Tenant.ANY, 1_000);
  }

  Notice only() {
    assertThat(notices()).hasSize(1);
    return notices().getFirst();
  }

  Notice becomes(Notice.State state) {
    Eventually.until(() -> !notices().isEmpty() && only().state() == state);
    return only();
  }

  /** Waits until the last try has failed, and makes the notice due. */
  Notice failed(int attempts) {
    Eventually.until(
        () -> !notices().isEmpty() && only().attempts() == attempts && only().lastError() != null);
    Notice notice = only();
    db.sql("UPDATE holdfast.notice SET next_try_at = clock_timestamp() WHERE state = 'PENDING'");
    return notice;
  }
}
