package dev.holdfast.programs;

import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.worker.handler.Kind;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Which program runs a kind. The operator says so; a payload never chooses what is run.
 *
 * @param command an argument list; what begins with {@code ./} or {@code ../} lies beside the
 *     settings
 * @param folder where those are
 * @param environment what it sees besides the harmless part of the worker's environment
 * @param artifacts what it must leave in its artifacts folder when it succeeds
 */
public record Program(
    List<String> command, Path folder, Map<String, String> environment, List<String> artifacts) {
  public Program {
    if (command.isEmpty() || command.getFirst().isBlank()) {
      throw new RefusedException(Refusal.BAD_NAME, "a command needs at least the program's name");
    }
    Path base = folder.toAbsolutePath().normalize();
    command = command.stream().map(word -> resolved(base, word)).toList();
    environment = Map.copyOf(environment);
    artifacts = List.copyOf(artifacts);
    artifacts.forEach(Limits::artifactName);
  }

  private static String resolved(Path base, String word) {
    return word.startsWith("./") || word.startsWith("../")
        ? base.resolve(word).normalize().toString()
        : word;
  }

  /** Secrets are hidden in its output by their form and by their names. */
  public Kind<Json> kind(String name, Codec codec) {
    return kind(name, codec, Scrubber.knowing(List.of()));
  }

  /**
   * @param scrubber hides secrets in its output
   */
  public Kind<Json> kind(String name, Codec codec, Scrubber scrubber) {
    return Kind.of(name, Json.class, new ProgramHandler(this, codec, scrubber))
        .producing(artifacts.toArray(String[]::new));
  }
}
