package dev.holdfast.server.page;

import dev.holdfast.testkit.page.Browser;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Runs axe-core, which checks the accessibility of the page. */
final class Axe {
  private static final String CODE = code();

  private static final String RUN =
      """
      const done = arguments[0];
      axe.run(document, {resultTypes: ['violations']}).then(
        ({violations}) => done(violations
          .filter(each => ['serious', 'critical'].includes(each.impact))
          .map(each => each.id + ': ' + each.nodes.map(node => node.html.slice(0, 200)).join(' | '))
          .join('; ')),
        failed => done(String(failed)));
      """;

  private Axe() {}

  /** What is serious or critical; empty when nothing is. */
  static String violations(Browser browser) {
    if (!Boolean.TRUE.equals(browser.script("return !!window.axe"))) {
      browser.script(CODE);
    }
    return String.valueOf(browser.later(RUN));
  }

  private static String code() {
    try (InputStream in = Axe.class.getResourceAsStream("/axe.min.js")) {
      if (in == null) {
        throw new IllegalStateException("axe.min.js is not on the class path");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
