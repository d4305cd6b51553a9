package dev.holdfast.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;

/**
 * A command that cannot be carried out, the exit code it must have and what its message must tell.
 */
record WrongCommand(String name, int code, String message, Spoiler spoiler) {
  /** Makes the command, and what is wrong about it. */
  interface Spoiler {
    Launch spoil(Launch launch, World world, TestDatabase database) throws IOException;
  }

  static WrongCommand of(int code, String message, String... arguments) {
    return new WrongCommand(
        String.join(" ", arguments),
        code,
        message,
        (launch, world, database) -> launch.arguments(arguments));
  }

  /** One line that says what to do, the documented exit code, nothing half done. */
  void isRefusedInOneLine(World world, TestDatabase database) throws IOException {
    Launch.Answer answer = run(world, database);
    assertThat(answer.err())
        .singleElement()
        .asString()
        .startsWith("holdfast: ")
        .containsPattern(message);
    assertThat(answer.code()).isEqualTo(code);
    assertThat(answer.out()).isEmpty();
    assertThat(database.count("SELECT count(*) FROM holdfast.job")).isZero();
    assertThat(world.folder().resolve(".holdfast")).doesNotExist();
  }

  /** The server of these tests runs with fsync=off, which has to be allowed. */
  Launch.Answer run(World world, TestDatabase database) throws IOException {
    Launch launch = world.launch().env("HOLDFAST_ALLOW_UNSAFE_DATABASE", "1");
    return spoiler.spoil(launch, world, database).run();
  }

  @Override
  public String toString() {
    return name;
  }
}
