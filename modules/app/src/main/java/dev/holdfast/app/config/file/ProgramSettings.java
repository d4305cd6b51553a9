package dev.holdfast.app.config.file;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.programs.Program;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.worker.handler.Kind;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A program that runs a kind, as {@code handlers.{kind}} in holdfast.yaml describes it. */
public record ProgramSettings(
    String kind,
    List<String> command,
    List<String> artifacts,
    List<String> pass,
    Map<String, String> environment,
    boolean strict,
    @Nullable RetryPolicy retry,
    Path folder) {
  private static final List<String> KEYS =
      List.of("command", "artifacts", "pass", "environment", "strict", "retry");

  static ProgramSettings read(String kind, JsonNode node, Path folder) throws Nodes.WrongException {
    String at = "handlers." + kind;
    Nodes.requireKnown(at, node, KEYS);
    ProgramSettings settings =
        new ProgramSettings(
            kind,
            Nodes.words(at + ".command", node.get("command")),
            Nodes.words(at + ".artifacts", node.get("artifacts")),
            Nodes.words(at + ".pass", node.get("pass")),
            Nodes.variables(at + ".environment", node.get("environment")),
            Nodes.flag(at + ".strict", node.get("strict")),
            retry(at + ".retry", node.get("retry")),
            folder);
    if (settings.command().isEmpty()) {
      throw new Nodes.WrongException(
          at + ".command is missing: a list of the program and its arguments");
    }
    try {
      Limits.kind(kind);
      var unused = settings.toProgram(name -> null);
    } catch (RefusedException refused) {
      throw new Nodes.WrongException(at + ": " + refused.getMessage());
    }
    return settings;
  }

  public Kind<?> toKind(Codec codec, Scrubber scrubber) {
    Kind<?> plain = toProgram(System::getenv).kind(kind, codec, scrubber);
    Kind<?> runs = retry == null ? plain : plain.retry(retry);
    return strict ? runs.strictly() : runs;
  }

  private Program toProgram(Function<String, @Nullable String> variables) {
    Map<String, String> seen = new HashMap<>();
    for (String name : pass) {
      String value = variables.apply(name);
      if (value != null) {
        seen.put(name, value);
      }
    }
    seen.putAll(environment);
    return new Program(command, folder, seen, artifacts);
  }

  /** Null when the file has none: the queue then decides, by kind and queue. */
  private static @Nullable RetryPolicy retry(String at, @Nullable JsonNode node)
      throws Nodes.WrongException {
    if (node == null || node.isNull()) {
      return null;
    }
    Nodes.requireKnown(at, node, RetryDelays.KEYS);
    try {
      return RetryDelays.read(at, node).over(RetryPolicy.DEFAULT);
    } catch (RefusedException wrong) {
      throw new Nodes.WrongException(at + ": " + wrong.getMessage());
    }
  }
}
