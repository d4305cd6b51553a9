package dev.holdfast.workspace;

import dev.holdfast.model.value.Codec;
import dev.holdfast.worker.steps.FailedAttempt;
import dev.holdfast.worker.steps.Strategy;
import dev.holdfast.workspace.git.Synced;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How an attempt of a step failed, as a file beside the workspace: {@code
 * state/self_heal/attempt-<step>-<n>.json}. For people; the timeline has the same.
 */
record FailureFile(Path folder, Codec codec) {
  private static final Logger log = LoggerFactory.getLogger(FailureFile.class);

  void write(String stepId, int stepIndex, FailedAttempt failure, String summary, Strategy next) {
    Map<String, Object> content = new LinkedHashMap<>();
    content.put("stepId", stepId);
    content.put("stepIndex", stepIndex);
    content.put("attempt", failure.attempt());
    content.put("failureClass", failure.failureClass().text());
    content.put("failureSignature", failure.signature());
    if (failure.diffHash() != null) {
      content.put("diffHash", failure.diffHash());
    }
    content.put("strategy", next.text());
    content.put("summary", summary);
    content.put("at", Instant.now().toString());
    Path file =
        folder
            .resolve("state/self_heal")
            .resolve("attempt-%s-%d.json".formatted(fileName(stepId), failure.attempt()));
    try {
      Synced.write(file, codec.encode(content).text());
    } catch (IOException unwritten) {
      log.warn("{} could not be written: {}", file, unwritten.toString());
    }
  }

  private static String fileName(String id) {
    return id.replace('/', '_').replace(':', '_');
  }
}
