package dev.holdfast.app.config.file;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.yaml.snakeyaml.error.MarkedYAMLException;

/**
 * The content of holdfast.yaml.
 *
 * @param values the text of each single setting by its key; nobody has checked that such a setting
 *     exists
 * @param programs under {@code handlers}: programs that run kinds
 * @param runtimes under {@code runtimes}: programs that run steps
 * @param queues under {@code queues}: what a supervisor runs for each queue
 * @param retriesOfKinds under {@code retries.kinds}
 * @param retriesOfQueues under {@code retries.queues}
 */
public record SettingsFile(
    Map<String, String> values,
    List<ProgramSettings> programs,
    List<RuntimeSettings> runtimes,
    List<QueueSettings> queues,
    List<RetryOverride> retriesOfKinds,
    List<RetryOverride> retriesOfQueues) {
  /** What the file has an entry of for each name; everything else is a single setting. */
  public static final List<String> TABLES =
      List.of("handlers", "runtimes", "queues", "retries.kinds", "retries.queues");

  public static final SettingsFile NONE =
      new SettingsFile(Map.of(), List.of(), List.of(), List.of(), List.of(), List.of());

  private static final long MOST_BYTES = 1 << 20;

  // Without this, the last of two equal keys would win silently.
  private static final YAMLMapper YAML =
      YAMLMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  public static SettingsFile read(Path file) {
    try {
      if (Files.size(file) > MOST_BYTES) {
        throw wrong(file, "it is larger than a megabyte");
      }
      JsonNode root = YAML.readTree(Files.readString(file));
      if (root.isMissingNode() || root.isNull()) {
        return NONE;
      }
      if (!(root instanceof ObjectNode object)) {
        throw wrong(file, "it must hold 'key: value' lines");
      }
      return read(file, object);
    } catch (JsonProcessingException malformed) {
      throw wrong(file, explained(malformed));
    } catch (NoSuchFileException missing) {
      throw wrong(file, "there is no such file");
    } catch (IOException unreadable) {
      throw wrong(file, "it cannot be read (" + unreadable.getMessage() + ")");
    } catch (Nodes.WrongException wrong) {
      throw wrong(file, String.valueOf(wrong.getMessage()));
    }
  }

  private static SettingsFile read(Path file, ObjectNode root) throws Nodes.WrongException {
    Path parent = file.toAbsolutePath().getParent();
    Path folder = parent == null ? Path.of("") : parent;
    Map<String, String> values = new LinkedHashMap<>();
    collect("", root, values);
    return new SettingsFile(
        values,
        table("handlers", root, folder, ProgramSettings::read),
        table("runtimes", root, folder, RuntimeSettings::read),
        table("queues", root, folder, QueueSettings::read),
        table("retries.kinds", root, folder, RetryOverride::ofKind),
        table("retries.queues", root, folder, RetryOverride::ofQueue));
  }

  /** Reads the entry of one name. */
  private interface Entry<T> {
    T read(String name, JsonNode node, Path folder) throws Nodes.WrongException;
  }

  private static <T> List<T> table(String key, JsonNode root, Path folder, Entry<T> entry)
      throws Nodes.WrongException {
    JsonNode table = root.at("/" + key.replace('.', '/'));
    List<T> read = new ArrayList<>();
    if (table.isMissingNode() || table.isNull()) {
      return read;
    }
    if (!table.isObject()) {
      throw new Nodes.WrongException(key + " must hold an entry for each name");
    }
    for (Map.Entry<String, JsonNode> one : table.properties()) {
      read.add(entry.read(one.getKey(), one.getValue(), folder));
    }
    return read;
  }

  /** An empty section is kept under its own key, so that an unknown one is not overlooked. */
  private static void collect(String prefix, JsonNode node, Map<String, String> values) {
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      String key = prefix + entry.getKey();
      JsonNode value = entry.getValue();
      if (TABLES.contains(key)) {
        continue;
      }
      if (value.isObject() && !value.isEmpty()) {
        collect(key + ".", value, values);
      } else {
        values.put(key, text(value));
      }
    }
  }

  private static String text(JsonNode value) {
    return value.isArray()
        ? StreamSupport.stream(value.spliterator(), false)
            .map(JsonNode::asText)
            .collect(Collectors.joining(","))
        : value.isNull() ? "" : value.asText();
  }

  /** Line, column and problem; the message of YAML begins with the context instead. */
  private static String explained(JsonProcessingException malformed) {
    if (malformed.getCause() instanceof MarkedYAMLException yaml
        && yaml.getProblem() != null
        && yaml.getProblemMark() != null) {
      return position(yaml.getProblemMark().getLine() + 1, yaml.getProblemMark().getColumn() + 1)
          + yaml.getProblem();
    }
    JsonLocation at = malformed.getLocation();
    return (at == null ? "" : position(at.getLineNr(), at.getColumnNr()))
        + malformed.getOriginalMessage().lines().findFirst().orElse("");
  }

  private static String position(int line, int column) {
    return "line %d, column %d: ".formatted(line, column);
  }

  private static CommandException wrong(Path file, String why) {
    return new CommandException(ExitCode.CONFIGURATION, file + " cannot be used: " + why);
  }
}
