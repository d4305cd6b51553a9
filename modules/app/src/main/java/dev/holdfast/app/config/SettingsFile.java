package dev.holdfast.app.config;

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
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.error.MarkedYAMLException;

/**
 * holdfast.yaml: nested keys as in {@link Setting}, lists for what is several, programs that run
 * kinds under {@code handlers}, those that run steps under {@code runtimes}, what a supervisor runs
 * for each queue under {@code queues}, and how jobs are retried under {@code retries}.
 */
record SettingsFile(
    Map<Setting, String> values,
    List<ProgramSettings> programs,
    List<RuntimeSettings> runtimes,
    List<QueueSettings> queues,
    RetrySettings.InFile retries) {
  private static final long LARGEST = 1 << 20;
  // A key that stands there twice would be taken once, and silently.
  private static final YAMLMapper YAML =
      YAMLMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();
  private static final String HANDLERS = "handlers";
  private static final String RUNTIMES = "runtimes";
  private static final String QUEUES = "queues";
  private static final String RETRIES = "retries";
  private static final List<String> OF_RETRIES = List.of("kinds", "queues");

  static final SettingsFile NONE =
      new SettingsFile(Map.of(), List.of(), List.of(), List.of(), RetrySettings.InFile.NONE);

  static SettingsFile read(Path file) {
    Map<Setting, String> values = new EnumMap<>(Setting.class);
    List<ProgramSettings> programs = new ArrayList<>();
    List<RuntimeSettings> runtimes = new ArrayList<>();
    List<QueueSettings> queues = new ArrayList<>();
    RetrySettings.InFile retries = RetrySettings.InFile.NONE;
    try {
      if (Files.size(file) > LARGEST) {
        throw wrong(file, "it is larger than a megabyte");
      }
      JsonNode root = YAML.readTree(Files.readString(file));
      if (!root.isMissingNode() && !root.isNull()) {
        if (!root.isObject()) {
          throw wrong(file, "it must hold 'key: value' lines");
        }
        programs.addAll(each(file, root, HANDLERS, ProgramSettings::read));
        runtimes.addAll(each(file, root, RUNTIMES, RuntimeSettings::read));
        queues.addAll(each(file, root, QUEUES, QueueSettings::read));
        retries = retries(file, root.get(RETRIES));
        collect(
            file,
            "",
            ((ObjectNode) root).without(List.of(HANDLERS, RUNTIMES, QUEUES, RETRIES)),
            values);
      }
    } catch (JsonProcessingException malformed) {
      throw wrong(file, explained(malformed));
    } catch (NoSuchFileException missing) {
      throw wrong(file, "there is no such file");
    } catch (IOException unreadable) {
      throw wrong(file, "it cannot be read (" + unreadable.getMessage() + ")");
    }
    return new SettingsFile(values, programs, runtimes, queues, retries);
  }

  /** What is wrong, and where; YAML's own message begins with what was being read. */
  private static String explained(JsonProcessingException malformed) {
    if (malformed.getCause() instanceof MarkedYAMLException yaml
        && yaml.getProblem() != null
        && yaml.getProblemMark() != null) {
      return place(yaml.getProblemMark().getLine() + 1, yaml.getProblemMark().getColumn() + 1)
          + yaml.getProblem();
    }
    JsonLocation at = malformed.getLocation();
    return (at == null ? "" : place(at.getLineNr(), at.getColumnNr()))
        + malformed.getOriginalMessage().lines().findFirst().orElse("");
  }

  private static String place(int line, int column) {
    return "line %d, column %d: ".formatted(line, column);
  }

  /** Reads one of several under a name. */
  private interface Entry<T> {
    T read(String name, JsonNode node, Path folder) throws ProgramSettings.WrongException;
  }

  private static <T> List<T> each(Path file, JsonNode root, String key, Entry<T> entry) {
    JsonNode all = root.get(key);
    List<T> read = new ArrayList<>();
    if (all == null || all.isNull()) {
      return read;
    }
    if (!all.isObject()) {
      throw wrong(file, key + " must hold something for each name");
    }
    Path folder = file.toAbsolutePath().getParent();
    try {
      for (Map.Entry<String, JsonNode> one : all.properties()) {
        read.add(entry.read(one.getKey(), one.getValue(), folder == null ? Path.of("") : folder));
      }
    } catch (ProgramSettings.WrongException wrong) {
      throw wrong(file, String.valueOf(wrong.getMessage()));
    }
    return read;
  }

  private static RetrySettings.InFile retries(Path file, @Nullable JsonNode node) {
    if (node == null || node.isNull()) {
      return RetrySettings.InFile.NONE;
    }
    try {
      ProgramSettings.known(RETRIES, node, OF_RETRIES);
    } catch (ProgramSettings.WrongException wrong) {
      throw wrong(file, String.valueOf(wrong.getMessage()));
    }
    return new RetrySettings.InFile(
        each(file, node, "kinds", RetrySettings::ofKind),
        each(file, node, "queues", RetrySettings::ofQueue));
  }

  private static void collect(
      Path file, String prefix, JsonNode node, Map<Setting, String> values) {
    node.properties()
        .forEach(
            entry -> {
              String key = prefix + entry.getKey();
              JsonNode value = entry.getValue();
              if (value.isObject()) {
                collect(file, key + ".", value, values);
              } else {
                values.put(known(file, key), text(value));
              }
            });
  }

  private static Setting known(Path file, String key) {
    return Setting.byKey(key)
        .orElseThrow(
            () -> {
              CommandException unknown =
                  Settings.unknown(key, Arrays.stream(Setting.values()).map(Setting::key).toList());
              return new CommandException(unknown.exitCode(), file + ": " + unknown.getMessage());
            });
  }

  private static String text(JsonNode value) {
    return value.isArray()
        ? StreamSupport.stream(value.spliterator(), false)
            .map(JsonNode::asText)
            .collect(Collectors.joining(","))
        : value.isNull() ? "" : value.asText();
  }

  private static CommandException wrong(Path file, String why) {
    return new CommandException(ExitCode.CONFIGURATION, file + " cannot be used: " + why);
  }
}
