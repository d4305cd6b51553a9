package dev.holdfast.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.Document;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The API reference in a browser, from the assembled program. */
@OnlyWithAll
public class ReferencePageTest extends InBrowser {
  /** What the page shows of each operation. */
  private static final String OPERATIONS =
      """
      return [...document.querySelectorAll('.opblock-summary')].map((summary) =>
        summary.querySelector('.opblock-summary-method').textContent + ' ' +
        summary.querySelector('.opblock-summary-path').dataset.path)
      """;

  /** Only visible schemas are in the document, so this scrolls through the list of all. */
  private static final String SCHEMAS =
      """
      const done = arguments[0];
      const list = document.querySelector('.models-scroll');
      window.seen ??= new Set();
      const look = (y) => {
        document.querySelectorAll('[data-json-schema-level="0"] .json-schema-2020-12__title')
          .forEach((title) => window.seen.add(title.textContent));
        if (!list || y > list.scrollHeight) {
          done([...window.seen]);
        } else {
          list.scrollTop = y;
          requestAnimationFrame(() => setTimeout(() => look(y + 200), 10));
        }
      };
      look(0);
      """;

  ReferencePageTest(TestDatabase db) {
    super(db);
  }

  @Test
  void shows_every_operation_and_every_schema() {
    browser.open(server.url(), "docs");
    browser.awaitElement("[data-path='/v1/jobs']");
    assertThat((List<?>) browser.script(OPERATIONS))
        .map(String::valueOf)
        .containsExactlyInAnyOrderElementsOf(
            Document.routes().stream()
                .map(route -> route.method() + " " + route.template())
                .toList());
    List<String> schemas = new ArrayList<>();
    Document.TREE.at("/components/schemas").fieldNames().forEachRemaining(schemas::add);
    Awaitility.await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () ->
                assertThat((List<?>) browser.later(SCHEMAS))
                    .map(String::valueOf)
                    .containsAll(schemas));
  }

  @Test
  void a_list_of_its_sections_leads_to_each_of_them() {
    browser.open(server.url(), "docs");
    browser.awaitElement("nav a");
    List<String> sections = new ArrayList<>();
    Document.TREE.get("tags").forEach(tag -> sections.add(tag.get("name").asText()));
    sections.add("schemas");
    assertThat(
            (List<?>)
                browser.script(
                    "return [...document.querySelectorAll('nav a')].map((a) => a.textContent)"))
        .map(String::valueOf)
        .containsExactlyElementsOf(sections);
    browser.script(
        "[...document.querySelectorAll('nav a')].find((a) => a.textContent === 'keys').click()");
    Awaitility.await()
        .atMost(TIMEOUT)
        .until(
            () ->
                Boolean.TRUE.equals(
                    browser.script(
                        "const top = document.querySelector('[data-tag=keys]')"
                            + ".getBoundingClientRect().top;"
                            + " return top > -50 && top < innerHeight && scrollY > 1000")));
  }

  private void openOperation() {
    String tag = Document.TREE.at("/paths/~1v1~1jobs/post/tags/0").asText();
    String id = Document.TREE.at("/paths/~1v1~1jobs/post/operationId").asText();
    browser.open(server.url(), "docs#/" + tag + "/" + id);
    browser.awaitElement(".opblock.is-open");
    browser.awaitText("Request body", "Responses");
  }

  @Test
  void an_operation_opens_by_its_link_and_cannot_be_executed() {
    openOperation();
    assertThat(browser.has(".try-out")).isFalse();
    assertThat(browser.has(".btn.authorize")).isFalse();
  }

  @Test
  void sends_no_request_to_the_api_and_none_to_another_host() {
    openOperation();
    List<?> loaded =
        (List<?>)
            browser.script(
                "return performance.getEntriesByType('resource').map((each) => each.name)");
    assertThat(loaded)
        .map(String::valueOf)
        .isNotEmpty()
        .allMatch(
            url ->
                url.startsWith(server.url() + "/page/")
                    || url.equals(server.url() + "/openapi.yaml")
                    || url.startsWith("data:"));
  }

  @Test
  void markup_in_a_description_runs_no_script() {
    browser.open(server.url(), "docs");
    browser.awaitElement("[data-path='/v1/jobs']");
    String hostile = "<img src=x onerror='window.hacked = 1'><script>window.hacked = 2</script>";
    browser.script(
        """
        const text = arguments[0];
        SwaggerUIBundle({dom_id: '#reference', spec: {
          openapi: '3.1.0', info: {title: 'hostile ' + text, version: text, description: text},
          tags: [{name: 'jobs', description: text}],
          paths: {'/hostile': {get: {tags: ['jobs'], summary: text, description: text,
            parameters: [{name: text, in: 'query', description: text, schema: {enum: [text]}}],
            responses: {200: {description: text}}}}}}});
        """,
        hostile);
    browser.awaitElement("[data-path='/hostile']");
    // The error of the image would call the handler.
    Awaitility.await()
        .atMost(TIMEOUT)
        .until(
            () ->
                Boolean.TRUE.equals(
                    browser.script(
                        "return performance.getEntriesByName(location.origin + '/x').length > 0")));
    assertThat(browser.has("#reference script")).isFalse();
    assertThat(browser.has("#reference [onerror]")).isFalse();
    assertThat(browser.script("return window.hacked === undefined")).isEqualTo(true);
    // The policy stops the handler, and the image is not on this server.
    expectedErrors.addAll(List.of("Executing inline event handler violates", "404"));
  }
}
