package dev.holdfast.app.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.programs.Program;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.worker.handler.Kind;
import java.nio.file.Path;
import java.util.ArrayList;
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

  /** Says what is wrong with one of them, without the file's name. */
  static final class WrongException extends Exception {
    private static final long serialVersionUID = 1L;

    WrongException(String message) {
      super(message);
    }
  }

  static ProgramSettings read(String kind, JsonNode node, Path folder) throws WrongException {
    String at = "handlers." + kind;
    known(at, node, KEYS);
    ProgramSettings settings =
        new ProgramSettings(
            kind,
            words(at + ".command", node.get("command")),
            words(at + ".artifacts", node.get("artifacts")),
            words(at + ".pass", node.get("pass")),
            variables(at + ".environment", node.get("environment")),
            flag(at + ".strict", node.get("strict")),
            retry(at + ".retry", node.get("retry")),
            folder);
    if (settings.command().isEmpty()) {
      throw new WrongException(at + ".command is missing: a list of the program and its arguments");
    }
    try {
      Limits.kind(kind);
      var unused = settings.toProgram(name -> null);
    } catch (RefusedException refused) {
      throw new WrongException(at + ": " + refused.getMessage());
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

  // ---- reading

  static void known(String at, JsonNode node, List<String> keys) throws WrongException {
    if (!node.isObject()) {
      throw new WrongException(at + " must hold " + String.join(", ", keys));
    }
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      if (!keys.contains(entry.getKey())) {
        throw new WrongException(
            "%s.%s is unknown: it may hold %s"
                .formatted(at, entry.getKey(), String.join(", ", keys)));
      }
    }
  }

  static List<String> words(String at, @Nullable JsonNode node) throws WrongException {
    List<String> words = new ArrayList<>();
    if (node != null && !node.isNull()) {
      if (!node.isArray()) {
        throw new WrongException(at + " must be a list, such as [python3, ./count.py]");
      }
      for (JsonNode word : node) {
        words.add(text(at, word));
      }
    }
    return words;
  }

  static Map<String, String> variables(String at, @Nullable JsonNode node) throws WrongException {
    Map<String, String> variables = new HashMap<>();
    if (node != null && !node.isNull()) {
      if (!node.isObject()) {
        throw new WrongException(at + " must hold NAME: value lines");
      }
      for (Map.Entry<String, JsonNode> entry : node.properties()) {
        variables.put(entry.getKey(), text(at + "." + entry.getKey(), entry.getValue()));
      }
    }
    return variables;
  }

  private static String text(String at, JsonNode node) throws WrongException {
    if (!node.isValueNode() || node.isNull() || node.asText().indexOf('\0') >= 0) {
      throw new WrongException(at + " must hold plain words");
    }
    return node.asText();
  }

  private static boolean flag(String at, @Nullable JsonNode node) throws WrongException {
    if (node == null || node.isNull()) {
      return false;
    }
    if (!node.isBoolean()) {
      throw new WrongException(at + " must be true or false");
    }
    return node.asBoolean();
  }

  /** Null when nothing is said: the queue decides, by kind and queue. */
  private static @Nullable RetryPolicy retry(String at, @Nullable JsonNode node)
      throws WrongException {
    if (node == null || node.isNull()) {
      return null;
    }
    known(at, node, RetrySettings.Delays.KEYS);
    try {
      return RetrySettings.Delays.read(at, node).policy(RetryPolicy.DEFAULT);
    } catch (RefusedException wrong) {
      throw new WrongException(at + ": " + wrong.getMessage());
    }
  }
}
