package dev.holdfast.server.page;

import dev.holdfast.server.http.Answer;
import dev.holdfast.server.routing.Call;
import java.util.Arrays;
import java.util.Locale;

/** Answers with a file: 304 if the browser has it already, compressed if the browser accepts it. */
final class FileAnswer {
  /** What a browser has it asks about each time. */
  static final String ASK = "no-cache";

  /** What a browser has it uses for a year: other content has another address. */
  static final String KEEP = "public, max-age=31536000, immutable";

  private FileAnswer() {}

  /**
   * @param policy the Content-Security-Policy
   * @param caching the Cache-Control
   */
  static Answer of(Call call, PageFiles.File file, String policy, String caching) {
    boolean known =
        call.header("If-None-Match")
            .map(tags -> Arrays.asList(tags.split("\\s*,\\s*", -1)).contains(file.tag()))
            .orElse(false);
    boolean compressed = call.header("Accept-Encoding").map(FileAnswer::takesGzip).orElse(false);
    Answer answer = Answer.text(known ? 304 : 200, file.type(), body(file, known, compressed));
    if (compressed && !known) {
      answer.header("Content-Encoding", "gzip");
    }
    return answer
        .header("Vary", "Accept-Encoding")
        .header("ETag", file.tag())
        .header("Cache-Control", caching)
        .header("Content-Security-Policy", policy)
        .header("Referrer-Policy", "no-referrer")
        .header("Cross-Origin-Opener-Policy", "same-origin")
        .header("Cross-Origin-Resource-Policy", "same-origin")
        .header("X-Frame-Options", "DENY");
  }

  private static byte[] body(PageFiles.File file, boolean known, boolean compressed) {
    if (known) {
      return new byte[0];
    }
    return compressed ? file.compressed() : file.bytes();
  }

  /** Whether gzip is among the encodings with a weight above 0. */
  private static boolean takesGzip(String encodings) {
    return Arrays.stream(encodings.toLowerCase(Locale.ROOT).split(",", -1))
        .map(each -> each.replaceAll("\\s", ""))
        .anyMatch(each -> each.matches("gzip(;q=(1(\\.0*)?|0\\.0*[1-9]\\d*))?"));
  }
}
