package dev.holdfast.app.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.fasterxml.jackson.dataformat.yaml.util.StringQuotingChecker;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Text;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How a command prints what it has read: as a table, or as data for programs. */
public final class OutputOption {
  /** What -o accepts. */
  public enum Format {
    TABLE,
    WIDE,
    JSON,
    YAML;

    boolean isData() {
      return this == JSON || this == YAML;
    }
  }

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      description = {"table, wide for more columns, json or yaml;", "default: table"})
  @Nullable Format format;

  @Option(names = "--json", description = "the same as -o json")
  boolean json;

  /** Throws if two formats were given. */
  public Format format() {
    if (json && format != null && format != Format.JSON) {
      throw new CommandException(ExitCode.USAGE, "choose one format: --json or -o");
    }
    return json ? Format.JSON : format == null ? Format.TABLE : format;
  }

  /** Whether it prints JSON or YAML. */
  public boolean isData() {
    return format().isData();
  }

  public boolean isWide() {
    return format() == Format.WIDE;
  }

  /** Prints a value as JSON or YAML. */
  public void print(Object value) {
    if (format() == Format.YAML) {
      Terminal.yaml(yaml(value));
    } else {
      Shown.print(value);
    }
  }

  /** One object of many that follow each other. */
  public void printOne(Object value) {
    if (format() == Format.YAML) {
      Terminal.yaml("---\n" + yaml(value));
    } else {
      Shown.printLine(value);
    }
  }

  /** Puts what is written with escapes into double quotes: elsewhere YAML has none. */
  private static final class Quoted extends StringQuotingChecker.Default {
    private static final long serialVersionUID = 1;

    @Override
    public boolean needToQuoteValue(String value) {
      return !Text.inert(value).equals(value) || super.needToQuoteValue(value);
    }

    @Override
    public boolean needToQuoteName(String name) {
      return !Text.inert(name).equals(name) || super.needToQuoteName(name);
    }
  }

  private static String yaml(Object value) {
    YAMLMapper mapper =
        YAMLMapper.builder(YAMLFactory.builder().stringQuotingChecker(new Quoted()).build())
            .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
            .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
            .enable(YAMLGenerator.Feature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS)
            .build();
    try {
      return mapper.writeValueAsString(Wire.tree(new Json(Wire.text(value))));
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
