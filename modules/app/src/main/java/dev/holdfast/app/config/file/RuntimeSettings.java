package dev.holdfast.app.config.file;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.programs.Program;
import dev.holdfast.workspace.RuntimeCommand;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A command that runs steps of workspace jobs, as {@code runtimes.{name}} in holdfast.yaml
 * describes it.
 *
 * @param pass names of environment variables that the command sees
 * @param secrets further names; the values of these are removed from everything that is stored
 */
public record RuntimeSettings(
    String name,
    List<String> command,
    List<String> pass,
    List<String> secrets,
    Map<String, String> environment,
    Path folder) {
  private static final List<String> KEYS = List.of("command", "pass", "secrets", "environment");

  static RuntimeSettings read(String name, JsonNode node, Path folder) throws Nodes.WrongException {
    String at = "runtimes." + name;
    Nodes.requireKnown(at, node, KEYS);
    RuntimeSettings settings =
        new RuntimeSettings(
            name,
            Nodes.words(at + ".command", node.get("command")),
            Nodes.words(at + ".pass", node.get("pass")),
            Nodes.words(at + ".secrets", node.get("secrets")),
            Nodes.variables(at + ".environment", node.get("environment")),
            folder);
    if (settings.command().isEmpty()) {
      throw new Nodes.WrongException(
          at + ".command is missing: a list of the program and its arguments");
    }
    try {
      Limits.word("runtime", name);
      var unused = settings.toCommand(variable -> null);
    } catch (RefusedException refused) {
      throw new Nodes.WrongException(at + ": " + refused.getMessage());
    }
    return settings;
  }

  public RuntimeCommand toCommand(Function<String, @Nullable String> variables) {
    Map<String, String> seen = new HashMap<>();
    Stream.concat(pass.stream(), secrets.stream())
        .forEach(
            variable -> {
              String value = variables.apply(variable);
              if (value != null) {
                seen.put(variable, value);
              }
            });
    seen.putAll(environment);
    return new RuntimeCommand(new Program(command, folder, Map.of(), List.of()).command(), seen);
  }

  public List<String> secretValues(Function<String, @Nullable String> variables) {
    return secrets.stream().map(variables).filter(Objects::nonNull).toList();
  }
}
