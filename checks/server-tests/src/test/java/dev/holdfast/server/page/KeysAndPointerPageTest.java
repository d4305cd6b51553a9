package dev.holdfast.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import java.util.List;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What keys do, where addresses lead, and that nothing moves away from under the pointer. */
@OnlyWithAll
class KeysAndPointerPageTest extends InBrowser {
  private static final String THEME = "return document.documentElement.dataset.theme ?? 'system'";

  KeysAndPointerPageTest(TestDatabase db) {
    super(db);
  }

  private Object search() {
    return browser.script("return document.getElementById('search')?.value ?? null");
  }

  // ---- keys

  @ParameterizedTest
  @ValueSource(strings = {"", "#/queues", "#/jobs", "#/info"})
  void a_slash_and_what_is_typed_at_once_after_it_is_a_search(String page) {
    holdfast.enqueue(Job.of("mail").queue("post"));
    open(page);
    browser.awaitElement("main h1");
    Object theme = browser.script(THEME);
    // In one go: no key waits for what the one before it has done.
    browser.type("body", "/tag:gjut?");
    Awaitility.await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(search()).isEqualTo("tag:gjut?"));
    assertThat(browser.script("return location.hash")).isEqualTo("#/jobs");
    assertThat(browser.script(THEME)).isEqualTo(theme);
    assertThat(browser.has("dialog[open]")).isFalse();
    // Nor does anything that the page hears later take it away.
    browser.script("return new Promise(done => setTimeout(done, 1200))");
    assertThat(search()).isEqualTo("tag:gjut?");
    assertThat(browser.focused()).isEqualTo("input");
  }

  @Test
  void single_keys_are_switched_off_and_stay_off() {
    open("#/info");
    browser.awaitElement("main h1");
    browser.press("Keyboard shortcuts");
    browser.awaitElement("dialog input[name=keys]").click();
    browser.press("//dialog", "Close");
    Object theme = browser.script(THEME);
    for (int i = 0; i < 2; i++) {
      browser.type("body", "t", "u", "/", "?", "g", "j");
      assertThat(browser.script(THEME)).isEqualTo(theme);
      assertThat(browser.has("dialog[open]")).isFalse();
      assertThat(browser.script("return location.hash")).isEqualTo("#/info");
      open("#/info");
      browser.awaitElement("main h1");
    }
    browser.press("Keyboard shortcuts");
    assertThat(browser.has("dialog input[name=keys]:not(:checked)")).isTrue();
    assertThat(Axe.violations(browser)).isEmpty();
    browser.awaitElement("dialog input[name=keys]").click();
    browser.press("//dialog", "Close");
    browser.type("body", "g", "j");
    browser.awaitText("All jobs:");
  }

  // ---- addresses

  @ParameterizedTest
  @ValueSource(strings = {"#/quues", "#/info/7", "#/jobs/1/2", "#/queues/a/b/c"})
  void an_address_that_is_no_page_is_said_to_be_none(String address) {
    open(address);
    browser.awaitText("No such page", "There is no page " + address);
    assertThat(browser.script("return document.title")).isEqualTo("No such page · Holdfast");
    assertThat(browser.has("nav a[aria-current=page]")).isFalse();
    assertThat(browser.has("hf-overview")).isFalse();
    assertThat(Axe.violations(browser)).isEmpty();
    browser.awaitElement("main a[href='#/queues']").click();
    browser.awaitText("Oldest due");
  }

  // ---- the pointer

  private String first() {
    return String.valueOf(
        browser.script("return document.querySelector('table.jobs tbody td a.mono')?.title"));
  }

  @Test
  void the_list_of_jobs_does_not_move_under_the_pointer() {
    List<JobId> ids =
        IntStream.range(0, 3).mapToObj(i -> holdfast.enqueue(Job.of("echo")).id()).toList();
    String newest = ids.getLast().toString();
    open("#/jobs");
    browser.awaitElement("table.jobs a[title='" + newest + "']");
    browser.point("table.jobs a[title='" + newest + "']");
    Object top = browser.script(TOP, newest);
    holdfast.enqueue(Job.of("echo").queue("other"));
    JobId last = holdfast.enqueue(Job.of("echo").queue("other")).id();
    holdfast.cancel(ids.getFirst(), "not needed");
    browser.awaitText("Show 2 more recent");
    browser.awaitText("cancelled: not needed");
    assertThat(first()).isEqualTo(newest);
    assertThat(browser.script(TOP, newest)).isEqualTo(top);
    browser.press("Show 2 more recent");
    Awaitility.await().atMost(TIMEOUT).until(() -> first().equals(last.toString()));
    // Without the pointer it follows by itself.
    browser.point("h1");
    JobId more = holdfast.enqueue(Job.of("echo")).id();
    Awaitility.await().atMost(TIMEOUT).until(() -> first().equals(more.toString()));
    assertThat(browser.has("#held")).isFalse();
  }

  @Test
  void rows_that_waited_are_shown_when_the_pointer_leaves() {
    JobId id = holdfast.enqueue(Job.of("echo")).id();
    open("#/jobs");
    browser.awaitElement("table.jobs a[title='" + id + "']");
    browser.point("table.jobs a[title='" + id + "']");
    JobId next = holdfast.enqueue(Job.of("echo")).id();
    browser.awaitText("Show 1 more recent");
    browser.point("h1");
    Awaitility.await().atMost(TIMEOUT).until(() -> first().equals(next.toString()));
  }

  private static final String TOP =
      "return document.querySelector(`table.jobs a[title='${arguments[0]}']`).getBoundingClientRect().top";

  @Test
  void queues_keep_their_order_on_the_overview_while_one_points_at_them() {
    holdfast.enqueue(IntStream.range(0, 3).mapToObj(i -> Job.of("echo").queue("a")).toList());
    holdfast.enqueue(Job.of("echo").queue("b"));
    open("");
    String link = "[data-steady=queues] tbody a[href='#/queues/a']";
    browser.awaitElement(link);
    browser.awaitElement("[data-steady=queues] tbody a[href='#/queues/b']");
    browser.point(link);
    holdfast.enqueue(IntStream.range(0, 9).mapToObj(i -> Job.of("echo").queue("b")).toList());
    String order =
        "return [...document.querySelectorAll('[data-steady=queues] tbody tr')].map(row => row.innerText.replace(/\\s+/g, ' ').slice(0, 4)).slice(0, 2).join()";
    Awaitility.await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(browser.script(order)).isEqualTo("a 3 ,b 10"));
    browser.point("h1");
    Awaitility.await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(browser.script(order)).isEqualTo("b 10,a 3 "));
  }

  // ---- when it is empty

  @Test
  void a_paused_queue_is_said_to_be_paused_and_not_never_empty() {
    enqueued();
    holdfast.admin().pause(QUEUE);
    open("");
    String tile = "return document.querySelector('#empty-in b').textContent";
    Awaitility.await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(browser.script(tile)).isEqualTo("paused"));
    assertThat(browser.awaitElement("#empty-in").getAttribute("title"))
        .isEqualTo("Jobs are due, and paused: work");
    holdfast.enqueue(Job.of("echo").queue("other"));
    Awaitility.await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(browser.script(tile)).isEqualTo("never"));
    assertThat(browser.awaitElement("#empty-in").getAttribute("title"))
        .contains("other")
        .doesNotContain("work");
    assertThat(live("live.queues.size")).isEqualTo(2);
  }
}
