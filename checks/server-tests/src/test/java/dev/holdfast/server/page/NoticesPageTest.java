package dev.holdfast.server.page;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Notices on the page, and the page of a link. */
@OnlyWithAll
class NoticesPageTest extends PageFixture {
  NoticesPageTest(TestDatabase db) {
    super(db);
  }

  private JobId asks() {
    JobId job = holdfast.enqueue(Job.of("raise").queue(QUEUE)).id();
    Lease lease =
        holdfast.jobs().claim(new ClaimRequest(QUEUE, 1, "w", SOON)).jobs().getFirst().lease();
    Question question =
        Question.of("Raise <b>the limit</b>?").details("of Ada").within(Duration.ofDays(2));
    holdfast.jobs().suspend(new Suspension(lease, 1, new Wait.ForApproval("limit", question)));
    return job;
  }

  @Test
  void the_page_shows_what_became_of_notices_and_sends_them_again() {
    JobId job = asks();
    holdfast.store().notices().writeNotices();
    Notice.Try tried = holdfast.store().notices().claimNotices(1, SOON).getFirst();
    holdfast.store().notices().noticeFailed(tried, 503, "status 503", Duration.ofDays(2));
    open("#/notices");
    browser.awaitText("given up", "limit", "status 503", "raise");
    browser.press("Send the notice of …" + job.toString().substring(28) + " again");
    browser.awaitText("A server sends it within seconds", "pending");
    Eventually.until(
        () ->
            holdfast.store().notices().notices(null, Tenant.ANY, 1).getFirst().state()
                == Notice.State.PENDING);
    browser.script(
        "const s = document.querySelector('select[name=state]'); s.value = 'DELIVERED'; s.dispatchEvent(new Event('change'))");
    browser.awaitText("There is no notice");
  }

  @Test
  void a_link_is_answered_in_a_browser() {
    JobId job = asks();
    open("#/jobs/" + job);
    browser.press("Link …");
    browser.awaitElement("dialog [name=link]");
    String link =
        String.valueOf(browser.script("return document.querySelector('dialog [name=link]').value"));
    assertThat(link).startsWith(server.url() + "/approvals/");
    browser.leave();
    browser.open(server.url(), URI.create(link).getPath().substring(1));
    browser.awaitText("Raise <b>the limit</b>?", "of Ada", "it counts as rejected");
    assertThat(state(job)).isEqualTo("WAITING");
    browser.type("[name=name]", "Grace");
    browser.type("[name=comment]", "a good customer");
    browser.awaitElement("button.yes").click();
    browser.awaitText("Approved", "the job was told");
    assertThat(state(job)).isEqualTo("PENDING");
    assertThat(db.queryOne(String.class, "SELECT ended ->> 'by' FROM holdfast.step"))
        .isEqualTo("link: Grace");
    expectedErrors.add("409");
    browser.open(server.url(), URI.create(link).getPath().substring(1));
    browser.awaitText("Decided already", "approved already, by link: Grace");
    assertThat(client.post(URI.create(link).getPath(), Map.of("approved", false), null).status())
        .isEqualTo(409);
  }
}
