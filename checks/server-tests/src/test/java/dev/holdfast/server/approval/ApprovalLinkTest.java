package dev.holdfast.server.approval;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.token.ApprovalLinks;
import dev.holdfast.contract.token.ApprovalTokens;
import dev.holdfast.contract.token.SignedTokens;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.queue.admin.TokenKey;
import dev.holdfast.server.Client;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.auth.Keyring;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.TestDatabase;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ApprovalLinkTest extends ServerTest {
  private static final Question RAISE =
      Question.of("Raise the limit?").details("for Ada").within(Duration.ofDays(2));

  ApprovalLinkTest(TestDatabase db) {
    super(db);
  }

  private JobId asks(Question question) {
    return asks(Job.of("raise").queue(QUEUE), question);
  }

  private JobId asks(Job job, Question question) {
    JobId id = holdfast.enqueue(job).id();
    ask(id, question);
    return id;
  }

  private void ask(JobId job, Question question) {
    Lease lease =
        holdfast.jobs().claim(new ClaimRequest(QUEUE, 1, "w", SOON)).jobs().getFirst().lease();
    assertThat(lease.job()).isEqualTo(job);
    holdfast.jobs().suspend(new Suspension(lease, 1, new Wait.ForApproval("limit", question)));
  }

  private String link(JobId job) {
    return link(job, null);
  }

  private String link(JobId job, @Nullable String key) {
    JsonNode link = client.post("/v1/jobs/" + job + "/links", Map.of("waitId", "limit"), key).ok();
    URI url = URI.create(link.get("url").asText());
    assertThat(url.toString()).startsWith(server.url() + ApprovalLinks.PATH);
    return url.getPath();
  }

  private JobStatus job(JobId id) {
    return holdfast.find(id).orElseThrow();
  }

  private Client.Reply json(String link) {
    return client.send(client.request(link, null).header("Accept", "application/json").GET());
  }

  private Client.Reply form(String link, Map<String, String> fields) {
    String body =
        fields.entrySet().stream()
            .map(
                each ->
                    each.getKey()
                        + "="
                        + URLEncoder.encode(each.getValue(), StandardCharsets.UTF_8))
            .collect(Collectors.joining("&"));
    return client.send(
        client
            .request(link, null)
            .header("Accept", "text/html")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(BodyPublishers.ofString(body)));
  }

  private JsonNode resumed(JobId job) {
    JobEvent event =
        holdfast.queries().timeline(job).stream()
            .filter(each -> each.type().equals("resumed"))
            .findFirst()
            .orElseThrow();
    return Wire.tree(event.data());
  }

  @Test
  void opening_a_link_shows_the_question_and_decides_nothing() {
    JobId job = asks(RAISE);
    String link = link(job);
    Client.Reply page = client.get(link, null);
    String html = page.ok().get("text").asText();
    assertThat(html)
        .contains("<h1>Raise the limit?</h1>", "for Ada", job.toString(), "it counts as rejected")
        .contains("value=\"approve\"", "value=\"reject\"")
        .doesNotContain("<script", "http://", "https://");
    HttpResponse<String> answer = page.response();
    assertThat(answer.headers().firstValue("Content-Type")).hasValue("text/html; charset=utf-8");
    assertThat(answer.headers().firstValue("Content-Security-Policy").orElseThrow())
        .startsWith("default-src 'none'; style-src 'sha256-")
        .contains("form-action 'self'", "frame-ancestors 'none'")
        .doesNotContain("unsafe");
    assertThat(answer.headers().firstValue("Referrer-Policy")).hasValue("same-origin");
    assertThat(answer.headers().firstValue("Cache-Control")).hasValue("no-store");
    assertThat(answer.headers().firstValue("X-Robots-Tag")).hasValue("noindex, nofollow");
    assertThat(client.send(client.request(link, null).HEAD()).status()).isEqualTo(200);
    JsonNode asked = json(link).ok();
    assertThat(asked.at("/question/text").asText()).isEqualTo("Raise the limit?");
    assertThat(asked.at("/question/afterwards").asText()).isEqualTo("REJECT");
    assertThat(asked.at("/job/id").asText()).isEqualTo(job.toString());
    assertThat(job(job).state()).isEqualTo(JobState.WAITING);
  }

  @Test
  void a_button_decides_and_the_timeline_says_that_it_was_by_a_link() {
    JobId job = asks(RAISE);
    String link = link(job);
    Map<String, String> form =
        Map.of("decision", "approve", "name", "Grace Höpper", "comment", "a good\r\ncustomer");
    assertThat(form(link, form).ok().get("text").asText()).contains("<h1>Approved</h1>");
    assertThat(job(job).state()).isEqualTo(JobState.PENDING);
    JsonNode resumed = resumed(job);
    assertThat(resumed.get("outcome").asText()).isEqualTo("approved");
    assertThat(resumed.get("by").asText()).isEqualTo("link: Grace Höpper");
    assertThat(resumed.get("comment").asText()).isEqualTo("a good\ncustomer");
  }

  @Test
  void a_link_decides_once() {
    JobId job = asks(RAISE);
    String link = link(job);
    form(link, Map.of("decision", "reject", "name", "ann", "comment", "")).ok();
    Client.Reply again = form(link, Map.of("decision", "approve", "name", "bob", "comment", ""));
    assertThat(again.status()).isEqualTo(409);
    assertThat(again.body().get("text").asText())
        .contains("<h1>Decided already</h1>", "This was rejected already, by link: ann, at ");
    assertThat(client.get(link, null).status()).isEqualTo(409);
    Client.Reply told = json(link).is(409, "already_decided");
    assertThat(told.body().get("approved").asBoolean()).isFalse();
    assertThat(told.body().get("by").asText()).isEqualTo("link: ann");
    assertThat(Instant.parse(told.body().get("at").asText())).isBefore(Instant.now().plus(SOON));
    assertThat(resumed(job).get("outcome").asText()).isEqualTo("rejected");
  }

  @Test
  void a_program_decides_as_json() {
    JobId job = asks(RAISE);
    String link = link(job);
    client.post(link, Map.of("name", "x"), null).is(422, "missing_field");
    client.post(link, Map.of("approved", true, "role", "admin"), null).is(422, "unknown_field");
    JsonNode decided = client.post(link, Map.of("approved", true), null).ok();
    assertThat(decided.get("waitId").asText()).isEqualTo("limit");
    assertThat(decided.get("approved").asBoolean()).isTrue();
    assertThat(resumed(job).get("by").asText()).isEqualTo("link");
    client.post(link, Map.of("approved", true), null).is(409, "already_decided");
  }

  @Test
  void what_somebody_has_decided_with_a_key_is_said_with_the_name_of_the_key() {
    JobId job = asks(RAISE);
    String link = link(job);
    holdfast.jobs().decide(job, "limit", new Decision(true, "ann", ""), Role.ADMIN, Tenant.ANY);
    assertThat(json(link).is(409, "already_decided").body().get("message").asText())
        .startsWith("this was approved already, by ann, at ");
  }

  @Test
  void what_nobody_had_decided_in_time_is_said_to_be_by_nobody() {
    for (Question.Unanswered then :
        Set.of(Question.Unanswered.REJECT, Question.Unanswered.APPROVE)) {
      JobId job = asks(Question.of("Raise?").within(Duration.ofHours(1), then));
      String link = link(job);
      db.sql("UPDATE holdfast.job SET wake_at = clock_timestamp() WHERE id = ?", job.value());
      holdfast.store().maintenance().promote();
      boolean approved = then == Question.Unanswered.APPROVE;
      assertThat(json(link).is(409, "already_decided").body().get("message").asText())
          .startsWith(
              "this was %s already, because nobody had decided in time, at "
                  .formatted(approved ? "approved" : "rejected"));
      holdfast.cancel(job, "enough");
    }
  }

  @Test
  void a_link_that_was_changed_or_is_another_token_leads_nowhere() {
    JobId job = asks(RAISE);
    String link = link(job);
    String cut = link.substring(0, link.length() - 2);
    json(cut).is(404, "not_found");
    String payload = link.split("\\.", -1)[1];
    json(link.replace(payload, payload.substring(0, 10) + "AAAA" + payload.substring(14)))
        .is(404, "not_found");
    json("/approvals/x").is(404, "not_found");
    json("/approvals/" + "x".repeat(5_000)).is(404, "not_found");
    // Signed by the same key, for something else.
    SignedTokens session =
        new SignedTokens(
            "session",
            "holdfast:session",
            Duration.ZERO,
            new Keyring(holdfast.store().admin()),
            Clock.systemUTC());
    json("/approvals/" + session.sign(token -> token.withSubject(job.toString())))
        .is(404, "not_found");
    Client.Reply page = client.send(client.request(cut, null).header("Accept", "text/html").GET());
    assertThat(page.status()).isEqualTo(404);
    assertThat(page.body().get("text").asText()).contains("<h1>No such question</h1>");
    assertThat(job(job).state()).isEqualTo(JobState.WAITING);
  }

  private ApprovalTokens tokens(InstantSource clock) {
    return new ApprovalTokens(new Keyring(holdfast.store().admin()).ofLinks(), clock);
  }

  private OpenWait open(JobId job) {
    return Objects.requireNonNull(job(job).waitsFor());
  }

  @Test
  void a_link_expires_after_thirty_days_though_its_question_is_open() {
    JobId job = asks(Question.of("Raise the limit?"));
    Instant then = holdfast.queries().now().minus(Duration.ofDays(31));
    ApprovalTokens.Signed signed = tokens(Clock.fixed(then, ZoneOffset.UTC)).sign(job, open(job));
    assertThat(Duration.between(then, signed.expiresAt()))
        .isBetween(Duration.ofDays(30).minusSeconds(2), Duration.ofDays(30));
    String link = ApprovalLinks.PATH + signed.text();
    json(link).is(410, "link_expired");
    client.post(link, Map.of("approved", true), null).is(410, "link_expired");
    assertThat(job(job).state()).isEqualTo(JobState.WAITING);
    JsonNode fresh =
        client.post("/v1/jobs/" + job + "/links", Map.of("waitId", "limit"), null).ok();
    assertThat(Instant.parse(fresh.get("expiresAt").asText()))
        .isBetween(
            Instant.now().plus(Duration.ofDays(30)).minus(SOON),
            Instant.now().plus(Duration.ofDays(30)).plus(SOON));
  }

  @Test
  void a_link_ends_with_its_question() {
    JobId job = asks(Question.of("Raise?").within(Duration.ofHours(1), Question.Unanswered.FAIL));
    assertThat(tokens(Clock.systemUTC()).sign(job, open(job)).expiresAt())
        .isBetween(open(job).until(), Objects.requireNonNull(open(job).until()).plusSeconds(1));
    String link = link(job);
    db.sql("UPDATE holdfast.job SET wake_at = clock_timestamp() WHERE id = ?", job.value());
    holdfast.store().maintenance().promote();
    json(link).is(410, "link_expired");
  }

  @Test
  void a_question_that_was_withdrawn_or_asked_anew_is_not_answered_by_the_old_link() {
    JobId cancelled = asks(RAISE);
    String first = link(cancelled);
    client.post("/v1/jobs/" + cancelled + "/cancel", Map.of(), null).ok();
    assertThat(json(first).is(410, "question_withdrawn").body().get("message").asText())
        .contains("its job was cancelled");
    client.post(first, Map.of("approved", true), null).is(410, "question_withdrawn");
    JobId again = asks(RAISE);
    String second = link(again);
    holdfast.jobs().decide(again, "limit", new Decision(true, "ann", ""), Role.ADMIN, Tenant.ANY);
    db.sql("DELETE FROM holdfast.step WHERE job_id = ?", again.value());
    ask(again, RAISE);
    client.post(second, Map.of("approved", true), null).is(410, "question_withdrawn");
    assertThat(job(again).state()).isEqualTo(JobState.WAITING);
    client.post(link(again), Map.of("approved", true), null).ok();
    holdfast.jobs().delete(again, Tenant.ANY);
    JobId deleted = asks(RAISE);
    String third = link(deleted);
    holdfast.jobs().delete(deleted, Tenant.ANY);
    json(third).is(410, "question_withdrawn");
  }

  @Test
  void a_link_outlives_the_key_that_signed_it_by_thirty_days() {
    JobId job = asks(RAISE);
    String link = link(job);
    holdfast.store().admin().rotateTokenKey(TokenKey.next(), Duration.ZERO);
    try (HoldfastServer other = HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0))) {
      Client elsewhere = new Client(other.url());
      elsewhere.get(link, null).ok();
      // It signs nothing, and verifies nothing else.
      assertThat(holdfast.store().admin().tokenKeys()).hasSize(1);
      assertThat(holdfast.store().admin().linkKeys()).hasSize(2);
    }
    db.sql("UPDATE holdfast.signing_key SET retired_at = retired_at - interval '31 days'");
    try (HoldfastServer other = HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0))) {
      Client elsewhere = new Client(other.url());
      assertThat(elsewhere.get(link, null).status()).isEqualTo(404);
    }
  }

  @Test
  void a_link_is_made_by_those_who_may_decide() {
    JobId job =
        asks(Job.of("raise").queue(QUEUE).owner("acme", "w"), RAISE.role(Question.Decider.ADMIN));
    String admin = key(Role.ADMIN, null);
    String path = "/v1/jobs/" + job + "/links";
    Map<String, String> limit = Map.of("waitId", "limit");
    client.post(path, limit, key(Role.OPERATOR, null)).is(403, "forbidden");
    client.post(path, limit, key(Role.VIEWER, null)).is(403, "forbidden");
    client.post(path, limit, key(Role.ADMIN, "other")).is(404, "not_found");
    client.post(path, Map.of("waitId", "other"), admin).is(409, "not_asked");
    client.post(path, limit, null).is(401, "key_missing");
    // And then it is as good as the role that the question asks for, without a key.
    client.post(link(job, admin), Map.of("approved", true), null).ok();
  }

  @Test
  void hostile_text_is_shown_and_does_nothing() {
    String hostile = "</h1><script>alert(1)</script>\"'&\u202Egnp";
    JobId job = asks(Question.of(hostile).details("<img src=x onerror=alert(1)>"));
    String html = client.get(link(job), null).ok().get("text").asText();
    assertThat(html)
        .contains("&lt;/h1&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;")
        .contains("&lt;img src=x onerror=alert(1)&gt;")
        .doesNotContain("<script", "<img", "\u202E");
    Map<String, String> forged =
        Map.of("decision", "approve", "name", "ann\n\u202Ebob", "comment", "");
    Client.Reply refused = form(link(job), forged);
    assertThat(refused.status()).isEqualTo(422);
    assertThat(refused.body().get("text").asText()).contains("That did not work");
    Map<String, String> name = Map.of("decision", "approve", "name", "<b>ann</b>", "comment", "");
    form(link(job), name).ok();
    String link = ApprovalLinks.PATH + "x";
    assertThat(client.get(link, null).status()).isEqualTo(404);
  }

  @Test
  void a_form_that_is_not_that_of_the_page_is_refused() {
    JobId job = asks(RAISE);
    String link = link(job);
    assertThat(form(link, Map.of("decision", "maybe")).status()).isEqualTo(422);
    assertThat(form(link, Map.of("name", "ann")).status()).isEqualTo(422);
    assertThat(form(link, Map.of("decision", "approve", "role", "admin")).status()).isEqualTo(422);
    assertThat(form(link, Map.of("decision", "approve", "comment", "x".repeat(1_001))).status())
        .isEqualTo(422);
    assertThat(form(link, Map.of("decision", "approve", "comment", "x".repeat(70_000))).status())
        .isEqualTo(413);
    assertThat(form(link, Map.of("decision", "approve", "comment", "\0")).status()).isEqualTo(422);
    assertThat(
            client
                .send(
                    client
                        .request(link, null)
                        .header("Content-Type", "text/plain")
                        .POST(BodyPublishers.ofString("decision=approve")))
                .status())
        .isEqualTo(415);
    assertThat(
            client
                .send(
                    client
                        .request(link, null)
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString("decision=approve&decision=reject")))
                .status())
        .isEqualTo(422);
    assertThat(job(job).state()).isEqualTo(JobState.WAITING);
  }

  @Test
  void another_site_does_not_send_the_form() {
    JobId job = asks(RAISE);
    String link = link(job);
    for (String origin : new String[] {"https://evil.example", "null"}) {
      client
          .send(
              client
                  .request(link, null)
                  .header("Origin", origin)
                  .header("Content-Type", "application/x-www-form-urlencoded")
                  .POST(BodyPublishers.ofString("decision=approve")))
          .is(403, "origin_not_allowed");
    }
    assertThat(job(job).state()).isEqualTo(JobState.WAITING);
    assertThat(
            client
                .send(
                    client
                        .request(link, null)
                        .header("Origin", server.url().toString())
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString("decision=approve")))
                .status())
        .isEqualTo(200);
  }

  @Test
  void links_are_answered_a_few_times_a_second() {
    String link = ApprovalLinks.PATH + UUID.randomUUID();
    boolean limited = false;
    for (int i = 0; i < 5_000 && !limited; i++) {
      limited = json(link).status() == 429;
    }
    assertThat(limited).isTrue();
  }

  @Test
  void links_lead_to_the_public_address() {
    URI jobs = URI.create("https://jobs.example.org/holdfast");
    JobId job = asks(RAISE);
    try (HoldfastServer other =
        HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0).publicUrl(jobs))) {
      JsonNode link =
          new Client(other.url())
              .post("/v1/jobs/" + job + "/links", Map.of("waitId", "limit"), null)
              .ok();
      assertThat(link.get("url").asText()).startsWith(jobs + "/approvals/");
    }
  }
}
