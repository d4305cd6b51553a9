package dev.holdfast.server.notice;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.Question;
import dev.holdfast.server.Client;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

class NoticeSenderTest extends NoticesFixture {
  NoticeSenderTest(TestDatabase db) {
    super(db);
  }

  private void decide(JobId job) {
    assertThat(
            holdfast
                .jobs()
                .decide(job, "limit", new Decision(true, "ann", ""), Role.ADMIN, Tenant.ANY))
        .isEqualTo(Decision.Answer.ACCEPTED);
  }

  @Test
  void a_question_is_told_with_its_job_and_a_link_that_answers_it() {
    HoldfastServer sender = sender();
    Question question =
        RAISE
            .details("for Ada")
            .role(Question.Decider.ADMIN)
            .within(Duration.ofDays(2), Question.Unanswered.FAIL);
    JobId job =
        asks(Job.of("raise").queue(QUEUE).owner("acme", "w").run(JobId.next(), "spring"), question);
    Received notice = next();
    assertThat(notice.json().get("type").asText()).isEqualTo("approval.requested");
    JsonNode data = notice.data();
    assertThat(data.at("/job/id").asText()).isEqualTo(job.toString());
    assertThat(data.at("/job/kind").asText()).isEqualTo("raise");
    assertThat(data.at("/job/queue").asText()).isEqualTo(QUEUE);
    assertThat(data.at("/job/tenant").asText()).isEqualTo("acme");
    assertThat(data.at("/job/run").asText()).isEqualTo("spring");
    assertThat(data.at("/question/waitId").asText()).isEqualTo("limit");
    assertThat(data.at("/question/text").asText()).isEqualTo("Raise the limit?");
    assertThat(data.at("/question/details").asText()).isEqualTo("for Ada");
    assertThat(data.at("/question/role").asText()).isEqualTo("admin");
    assertThat(data.at("/question/afterwards").asText()).isEqualTo("FAIL");
    assertThat(Instant.parse(data.at("/question/until").asText()))
        .isEqualTo(Instant.parse(data.at("/question/since").asText()).plus(Duration.ofDays(2)));
    assertThat(data.at("/links/page").asText()).isEqualTo(sender.url() + "/#/jobs/" + job);
    assertThat(notice.link().toString()).startsWith(sender.url() + "/approvals/");
    // Every server of the database takes the link.
    client.get(notice.link().getPath(), null).ok();
    Notice delivered = becomes(Notice.State.DELIVERED);
    assertThat(delivered.id()).hasToString(notice.id());
    assertThat(delivered.attempts()).isOne();
    assertThat(delivered.lastStatus()).isEqualTo(204);
  }

  @Test
  void a_notice_is_signed_as_standard_webhooks_says() throws Exception {
    sender();
    asks(RAISE);
    Received notice = next();
    byte[] key = Base64.getDecoder().decode(SECRET.substring("whsec_".length()));
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    mac.update((notice.id() + "." + notice.timestamp() + ".").getBytes(StandardCharsets.UTF_8));
    assertThat(notice.signature())
        .isEqualTo("v1," + Base64.getEncoder().encodeToString(mac.doFinal(notice.body())));
    assertThat(Instant.ofEpochSecond(Long.parseLong(notice.timestamp())))
        .isBetween(Instant.now().minus(SOON), Instant.now().plus(SOON));
  }

  @Test
  void a_notice_that_is_refused_is_sent_again_under_the_same_id() {
    answer = notice -> 500;
    sender();
    asks(RAISE);
    Received first = next();
    Notice failing = failed(1);
    assertThat(failing.state()).isEqualTo(Notice.State.PENDING);
    assertThat(failing.lastStatus()).isEqualTo(500);
    assertThat(failing.lastError()).isEqualTo("status 500");
    assertThat(failing.nextTryAt()).isAfter(Instant.now());
    answer = notice -> 200;
    Received second = next();
    assertThat(second.id()).isEqualTo(first.id());
    Notice delivered = becomes(Notice.State.DELIVERED);
    assertThat(delivered.attempts()).isEqualTo(2);
    assertThat(delivered.lastError()).isNull();
  }

  @Test
  void a_redirect_is_not_followed() {
    answer = notice -> 302;
    sender();
    asks(RAISE);
    assertThat(failed(1).lastError()).isEqualTo("status 302");
  }

  @Test
  void a_receiver_that_is_not_there_is_tried_again() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    sender(URI.create("http://127.0.0.1:" + port + "/hook"));
    asks(RAISE);
    Notice failing = failed(1);
    assertThat(failing.lastError()).isEqualTo("the connection is refused");
    assertThat(failing.lastStatus()).isNull();
    failed(2);
  }

  @Test
  void a_receiver_that_hangs_is_tried_again() {
    answer = notice -> -1;
    sender();
    asks(RAISE);
    assertThat(failed(1).lastError()).isEqualTo("no answer within 10000 ms");
    answer = notice -> 204;
    assertThat(becomes(Notice.State.DELIVERED).attempts()).isEqualTo(2);
  }

  @Test
  void several_servers_send_each_notice_once() {
    sender();
    sender();
    Set<String> jobs = new HashSet<>();
    IntStream.range(0, 40).forEach(each -> jobs.add(asks(RAISE).toString()));
    Eventually.until(
        () ->
            notices().size() == 40
                && notices().stream().allMatch(each -> each.state() == Notice.State.DELIVERED));
    assertThat(received.stream().map(each -> each.data().at("/job/id").asText()))
        .containsExactlyInAnyOrderElementsOf(jobs);
    assertThat(received.stream().map(Received::id).distinct()).hasSize(40);
  }

  @Test
  void what_a_server_leaves_when_it_closes_another_one_sends_at_once() {
    answer = notice -> -1;
    HoldfastServer first = sender();
    asks(RAISE);
    Received begun = next();
    first.close();
    answer = notice -> 204;
    sender();
    assertThat(next().id()).isEqualTo(begun.id());
    assertThat(becomes(Notice.State.DELIVERED).attempts()).isEqualTo(2);
  }

  @Test
  void what_a_killed_server_held_another_one_sends_when_the_time_is_over() {
    try (Holdfast killed = Holdfast.on(db.dataSource())) {
      asks(RAISE);
      killed.store().notices().writeNotices();
      Notice.Try held = killed.store().notices().claimNotices(1, SOON).getFirst();
      sender();
      assertThat(killed.store().notices().claimNotices(1, SOON)).isEmpty();
      assertThat(received).isEmpty();
      db.sql("UPDATE holdfast.notice SET next_try_at = clock_timestamp()");
      assertThat(next().id()).isEqualTo(held.id().toString());
      assertThat(becomes(Notice.State.DELIVERED).attempts()).isEqualTo(2);
      // It was only frozen, and says late what became of its try.
      assertThat(killed.store().notices().noticeFailed(held, null, "late", Duration.ZERO))
          .isFalse();
      assertThat(only().state()).isEqualTo(Notice.State.DELIVERED);
    }
  }

  @Test
  void a_question_that_is_decided_is_not_told_any_more() {
    answer = notice -> 500;
    sender();
    JobId job = asks(RAISE);
    next();
    Eventually.until(() -> !notices().isEmpty() && only().lastError() != null);
    decide(job);
    Notice over = becomes(Notice.State.SUPERSEDED);
    assertThat(over.nextTryAt()).isNull();
    assertThat(over.endedAt()).isNotNull();
    assertThat(received).isEmpty();
  }

  @Test
  void a_server_without_a_receiver_ends_notices_of_decided_questions_too() {
    JobId job = asks(RAISE);
    holdfast.store().notices().writeNotices();
    decide(job);
    becomes(Notice.State.SUPERSEDED);
  }

  @Test
  void a_notice_that_is_due_after_its_question_was_decided_is_not_sent() {
    JobId job = asks(RAISE);
    holdfast.store().notices().writeNotices();
    decide(job);
    sender();
    becomes(Notice.State.SUPERSEDED);
    assertThat(received).isEmpty();
  }

  @Test
  void the_same_id_that_is_asked_again_is_told_again() {
    sender();
    JobId job = asks(RAISE);
    Received first = next();
    becomes(Notice.State.DELIVERED);
    decide(job);
    db.sql("DELETE FROM holdfast.step WHERE job_id = ?", job.value());
    ask(job, RAISE);
    Received second = next();
    assertThat(second.id()).isNotEqualTo(first.id());
    assertThat(second.data().at("/job/id").asText()).isEqualTo(job.toString());
    Eventually.until(() -> notices().size() == 2);
  }

  @Test
  void after_a_day_a_notice_is_given_up_and_can_be_sent_again() {
    answer = notice -> 503;
    sender();
    asks(RAISE);
    for (int attempt = 1; attempt <= 3; attempt++) {
      failed(attempt);
    }
    JsonNode failing = problem("notices_failing");
    assertThat(failing.at("/parameters/notices").asInt()).isOne();
    assertThat(failing.get("message").asText()).contains("1 notice", "status 503");
    Eventually.until(() -> only().attempts() == 4 && only().lastError() != null);
    db.sql(
        "UPDATE holdfast.notice SET give_up_at = clock_timestamp(), next_try_at = clock_timestamp()");
    Notice givenUp = becomes(Notice.State.GIVEN_UP);
    assertThat(problem("notices_given_up").at("/parameters/notices").asInt()).isOne();
    answer = notice -> 204;
    String path = "/v1/notices/" + givenUp.id() + "/send";
    assertThat(client.post(path, null).ok().get("state").asText()).isEqualTo("PENDING");
    becomes(Notice.State.DELIVERED);
    Eventually.until(() -> client.get("/v1/info", null).ok().get("problems").isEmpty());
    // Also one that was received: it may have been lost there.
    received.clear();
    client.post(path, null).ok();
    assertThat(next().id()).isEqualTo(givenUp.id().toString());
  }

  private JsonNode problem(String code) {
    JsonNode[] found = new JsonNode[1];
    Eventually.until(
        () -> {
          for (JsonNode each : client.get("/v1/info", null).ok().get("problems")) {
            if (each.get("code").asText().equals(code)) {
              found[0] = each;
            }
          }
          return found[0] != null;
        });
    return found[0];
  }

  @Test
  void the_list_says_what_became_of_each_and_sending_says_what_is_wrong() {
    HoldfastServer sender = sender();
    JobId job = asks(RAISE);
    Notice notice = becomes(Notice.State.DELIVERED);
    JsonNode list = client.get("/v1/notices", null).ok();
    assertThat(list.get("receiver").isNull()).isTrue();
    assertThat(list.get("notices")).hasSize(1);
    JsonNode shown = list.at("/notices/0");
    assertThat(shown.get("id").asText()).isEqualTo(notice.id().toString());
    assertThat(shown.get("jobId").asText()).isEqualTo(job.toString());
    assertThat(shown.get("state").asText()).isEqualTo("DELIVERED");
    assertThat(client.get("/v1/notices?state=pending", null).ok().get("notices")).isEmpty();
    assertThat(client.get("/v1/notices?state=DELIVERED&limit=1", null).ok().get("notices"))
        .hasSize(1);
    client.get("/v1/notices?state=lost", null).is(422, "bad_name");
    client.get("/v1/notices?limit=0", null).is(422, "invalid_value");
    client.post("/v1/notices/" + JobId.next() + "/send", null).is(404, "not_found");
    client.post("/v1/notices/1/send", null).is(400, "bad_id");
    decide(job);
    client.post("/v1/notices/" + notice.id() + "/send", null).is(409, "not_asked");
    JsonNode own = new Client(sender.url()).get("/v1/notices", null).ok();
    assertThat(own.get("receiver").asText())
        .isEqualTo("http://127.0.0.1:" + receiver.getAddress().getPort());
  }

  @Test
  void a_key_of_one_tenant_sees_and_sends_its_own_notices() {
    JobId own = asks(Job.of("raise").queue(QUEUE).owner("acme", "w"), RAISE);
    JobId foreign = asks(Job.of("raise").queue(QUEUE).owner("other", "w"), RAISE);
    sender();
    Eventually.until(() -> notices().size() == 2);
    String key = key(Role.OPERATOR, "acme");
    JsonNode list = client.get("/v1/notices", key).ok().get("notices");
    assertThat(list).hasSize(1);
    assertThat(list.at("/0/jobId").asText()).isEqualTo(own.toString());
    for (Notice each : notices()) {
      int expected = each.jobId().equals(foreign) ? 404 : 200;
      assertThat(client.post("/v1/notices/" + each.id() + "/send", key).status())
          .isEqualTo(expected);
    }
    String viewer = key(Role.VIEWER, null);
    assertThat(client.get("/v1/notices", viewer).ok().get("notices")).hasSize(2);
    client.post("/v1/notices/" + list.at("/0/id").asText() + "/send", viewer).is(403, "forbidden");
  }

  @Test
  void no_secret_is_logged_or_stored() {
    answer = notice -> 500;
    try (CapturedLog log = new CapturedLog()) {
      sender();
      asks(RAISE);
      String token = next().link().getPath().substring("/approvals/".length());
      failed(1);
      String stored = db.queryOne(String.class, "SELECT n::text FROM holdfast.notice n");
      assertThat(stored).doesNotContain(token, HIDDEN);
      Eventually.until(() -> log.lines().stream().anyMatch(each -> each.contains("status 500")));
      assertThat(log.lines())
          .noneMatch(each -> each.contains(token) || each.contains(HIDDEN))
          .noneMatch(each -> each.contains("Raise the limit"));
    }
  }

  @Test
  void tries_are_counted() {
    HoldfastServer sender = sender();
    answer = notice -> received.size() == 1 ? 500 : 204;
    asks(RAISE);
    failed(1);
    becomes(Notice.State.DELIVERED);
    assertThat(counts(sender))
        .contains("server_notices_total{outcome=\"failed\"} 1.0")
        .contains("server_notices_total{outcome=\"delivered\"} 1.0");
  }

  private static List<String> counts(HoldfastServer sender) {
    return new Client(sender.url())
        .send(new Client(sender.url()).request("/metrics", null).GET())
        .response()
        .body()
        .lines()
        .toList();
  }

  @Test
  void a_look_for_new_questions_passes_over_those_that_were_told() {
    IntStream.range(0, 30).forEach(each -> asks(RAISE));
    assertThat(holdfast.store().notices().writeNotices()).isEqualTo(30);
    assertThat(holdfast.store().notices().writeNotices()).isZero();
    assertThat(
            db.count(
                "SELECT count(*) FROM holdfast.job WHERE wait_sort = 'APPROVAL' AND wait -> 'noticed' IS NULL"))
        .isZero();
  }

  @Test
  void the_delay_between_tries_doubles_up_to_a_quarter_of_an_hour() {
    assertThat(NoticeSender.delay(1)).isBetween(Duration.ofMillis(3_700), Duration.ofMillis(6_300));
    assertThat(NoticeSender.delay(5)).isBetween(Duration.ofSeconds(60), Duration.ofSeconds(100));
    assertThat(NoticeSender.delay(1_000)).isBetween(Duration.ofMinutes(11), Duration.ofMinutes(19));
  }

  @Test
  void notices_are_forgotten_with_their_job_and_after_a_month() {
    JobId job = asks(RAISE);
    sender();
    becomes(Notice.State.DELIVERED);
    assertThat(holdfast.store().notices().forgetNotices(NoticeSender.KEPT)).isZero();
    db.sql("UPDATE holdfast.notice SET created_at = created_at - interval '31 days'");
    assertThat(holdfast.store().notices().forgetNotices(NoticeSender.KEPT)).isOne();
    asks(RAISE);
    Eventually.until(() -> !notices().isEmpty());
    holdfast.jobs().delete(notices().getFirst().jobId(), Tenant.ANY);
    assertThat(notices()).isEmpty();
    assertThat(holdfast.find(job)).isPresent();
  }
}
