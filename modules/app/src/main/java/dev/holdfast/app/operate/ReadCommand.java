package dev.holdfast.app.operate;

import dev.holdfast.app.cli.OutputOption;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;

/**
 * A command that reads one value and prints it: as text, or as JSON or YAML.
 *
 * @param <T> the value
 */
public abstract class ReadCommand<T> implements Callable<Integer> {
  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin protected final OutputOption output = new OutputOption();

  /** Throws if an option is wrong, before the database or the server is contacted. */
  protected void checkOptions() {}

  protected abstract T read(Operator operator);

  /** The value that is printed as JSON or YAML. */
  protected abstract Object json(T value);

  /** With a line break at the end. */
  protected abstract String text(T value);

  /** For {@code -o wide}; the same as otherwise where there is no more to show. */
  protected String wide(T value) {
    return text(value);
  }

  /** Goes on after the value was printed, for commands that can. */
  protected void follow(Operator operator, T value) throws InterruptedException {}

  @Override
  public final Integer call() throws InterruptedException {
    OutputOption.Format format = output.format();
    checkOptions();
    try (Operator operator = connection.open()) {
      T value = read(operator);
      switch (format) {
        case TABLE -> Terminal.print(text(value));
        case WIDE -> Terminal.print(wide(value));
        case JSON, YAML -> output.print(json(value));
      }
      follow(operator, value);
      return ExitCode.OK;
    }
  }
}
