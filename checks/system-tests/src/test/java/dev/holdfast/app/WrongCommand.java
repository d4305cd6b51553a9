package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.cli.Terminal;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A command that cannot be carried out, the exit code it must have and what its message must
 * contain.
 */
public record WrongCommand(String name, int code, String message, Spoiler spoiler) {
  /** Prepares the command and its error. */
  interface Spoiler {
    void spoil(Launch launch, TestDatabase database) throws IOException;
  }

  /** A command that is about to be run, with a folder for its files. */
  record Launch(Path folder, List<String> arguments, Map<String, String> environment) {
    Launch arguments(String... more) {
      arguments.addAll(List.of(more));
      return this;
    }

    Launch env(String variable, String value) {
      environment.put(variable, value);
      return this;
    }

    Path file(String name, String text) throws IOException {
      return Files.writeString(folder.resolve(name), text);
    }
  }

  public static WrongCommand of(int code, String message, String... arguments) {
    return new WrongCommand(
        String.join(" ", arguments),
        code,
        message,
        (launch, database) -> launch.arguments(arguments));
  }

  /** One line that says what to do, the documented exit code, nothing half done. */
  void isRefusedInOneLine(Path folder, TestDatabase database) throws IOException {
    Terminal.Answer answer = run(folder, database);
    assertThat(answer.err())
        // The handlers of other tests are on the class path.
        .filteredOn(line -> !line.endsWith("need the database and are not loaded"))
        .singleElement()
        .asString()
        .startsWith("holdfast: ")
        .containsPattern(message);
    assertThat(answer.code()).isEqualTo(code);
    assertThat(answer.out()).isEmpty();
    assertThat(database.count("SELECT count(*) FROM holdfast.job")).isZero();
    assertThat(folder.resolve(".holdfast")).doesNotExist();
  }

  public Terminal.Answer run(Path folder, TestDatabase database) throws IOException {
    Launch launch = new Launch(folder, new ArrayList<>(), new HashMap<>());
    launch
        .env("HOLDFAST_DATABASE_URL", database.url())
        .env("HOLDFAST_DATABASE_USER", database.user())
        .env("HOLDFAST_DATABASE_PASSWORD", database.password())
        .env("HOLDFAST_FOLDER", folder.resolve(".holdfast").toString())
        .env("HOLDFAST_SERVER_PORT", "0")
        // The server of these tests runs with fsync=off, which has to be allowed.
        .env("HOLDFAST_DATABASE_ALLOW_UNSAFE", "1");
    spoiler.spoil(launch, database);
    return Terminal.run(launch.environment(), launch.arguments());
  }

  @Override
  public String toString() {
    return name;
  }
}
