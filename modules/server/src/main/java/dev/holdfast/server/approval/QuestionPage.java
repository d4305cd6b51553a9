package dev.holdfast.server.approval;

import dev.holdfast.model.notice.AskedQuestion;
import dev.holdfast.model.value.Text;
import dev.holdfast.model.wait.OpenWait;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The page of a link, as HTML. It has no script, loads nothing, and leads nowhere: its address is a
 * secret. The form is sent to the address of the page itself, wherever a proxy has put that.
 */
final class QuestionPage {
  private static final DateTimeFormatter MOMENT =
      DateTimeFormatter.ofPattern("d MMMM uuuu, HH:mm 'UTC'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  private static final String STYLE =
      """
      :root { color-scheme: light dark; }
      body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem; }
      h1 { font-size: 1.35rem; } h1, pre, dd { overflow-wrap: anywhere; unicode-bidi: plaintext; }
      pre { white-space: pre-wrap; font: inherit; border-left: 3px solid #8888; padding-left: 1rem; }
      dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; } dd { margin: 0; }
      label { display: block; margin-top: 1rem; }
      input, textarea { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem; }
      .buttons { display: flex; gap: 1rem; margin-top: 1.5rem; }
      button { font: inherit; font-weight: 600; padding: .6rem 1.6rem; border-radius: .4rem; border: 2px solid; cursor: pointer; }
      .yes { background: #146c2e; border-color: #146c2e; color: #fff; }
      .no { background: #b3261e; border-color: #b3261e; color: #fff; }
      """;

  /** What a browser may do with it. The form may only be sent to this server. */
  static final String POLICY =
      "default-src 'none'; style-src '%s'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
          .formatted(digest(STYLE));

  private QuestionPage() {}

  private static String digest(String style) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(style.getBytes(StandardCharsets.UTF_8));
      return "sha256-" + Base64.getEncoder().encodeToString(digest);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  static String moment(Instant moment) {
    return MOMENT.format(moment);
  }

  /** A question and what can be answered. */
  static byte[] of(AskedQuestion asked, OpenWait open, OpenWait.Asked question) {
    String details =
        question.details().isBlank() ? "" : "<pre>" + escaped(question.details()) + "</pre>\n";
    return page(
        "A job asks",
        """
        <h1>%s</h1>
        %s<dl>
        <dt>Asked by</dt><dd>job %s of kind %s</dd>
        <dt>Since</dt><dd>%s</dd>
        %s</dl>
        <form method="post">
        <label>Your name, for the record <input name="name" maxlength="100" autocomplete="name"></label>
        <label>Comment <textarea name="comment" rows="3" maxlength="1000"></textarea></label>
        <div class="buttons"><button class="yes" name="decision" value="approve">Approve</button>
        <button class="no" name="decision" value="reject">Reject</button></div>
        </form>
        """
            .formatted(
                escaped(question.text()),
                details,
                escaped(asked.job().toString()),
                escaped(asked.kind()),
                moment(open.since()),
                until(open.until(), question)));
  }

  private static String until(@Nullable Instant until, OpenWait.Asked question) {
    if (until == null) {
      return "";
    }
    String then =
        switch (question.afterwards()) {
          case REJECT -> "it counts as rejected";
          case APPROVE -> "it counts as approved";
          case FAIL -> "the job fails";
        };
    return "<dt>Until</dt><dd>%s; if nobody decides until then, %s</dd>\n"
        .formatted(moment(until), then);
  }

  /** That there is nothing to decide, or no more. */
  static byte[] message(String title, String text) {
    return page(title, "<h1>%s</h1>\n<p>%s</p>\n".formatted(escaped(title), escaped(text)));
  }

  private static byte[] page(String title, String body) {
    return """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><title>%s · Holdfast</title>
        <meta name="viewport" content="width=device-width"><meta name="robots" content="noindex, nofollow">
        <style>%s</style></head>
        <body><main>
        %s</main></body></html>
        """
        .formatted(escaped(title), STYLE, body)
        .getBytes(StandardCharsets.UTF_8);
  }

  /** As text, also within quotes; what is not seen or turns text around is replaced. */
  static String escaped(String text) {
    return Text.inert(text)
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }
}
