package dev.holdfast.server.page;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** A server whose settings contain markup. */
abstract class PageFixture extends InBrowser {
  PageFixture(TestDatabase db) {
    super(db);
  }

  @Override
  protected void configure(Path folder) {
    try {
      Files.writeString(
          folder.resolve("holdfast.yaml"),
          "handlers: {x: {command: [echo, '<img src=x onerror=hit=1>']}}");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void fail(JsonNode task, String message) {
    callback(
            task,
            "completed",
            failedBody(
                1,
                Map.of(
                    "category",
                    "USER_CODE",
                    "code",
                    "BROKEN",
                    "message",
                    message,
                    "retryable",
                    false)))
        .ok();
  }
}
