package dev.holdfast.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.WrongCommand;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Payloads that are not JSON: the position of the error and what was expected there. */
@ExtendWith(DatabaseExtension.class)
class PayloadErrorTest {
  @TempDir Path folder;

  private Terminal.Answer refused(TestDatabase database, String... arguments) throws IOException {
    Terminal.Answer answer = WrongCommand.of(6, "", arguments).run(folder, database);
    assertThat(answer.code()).isEqualTo(ExitCode.REFUSED);
    assertThat(answer.out()).isEmpty();
    assertThat(answer.err()).hasSize(1);
    assertThat(answer.err().getFirst())
        .doesNotContain("Source", "Jackson", "JsonReadFeature", "code ", "Exception");
    return answer;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{bad | line 1, column 2: unexpected character ('b'): was expecting double-quote",
        "{'a': 1} | line 1, column 2: unexpected character (a single quote): was expecting double-",
        "{\"a\" 1} | line 1, column 6: unexpected character ('1'): was expecting a colon",
        "{\"a\":1 \"b\":2} | line 1, column 8: unexpected character ('\"'): was expecting comma",
        "[1, 2 | line 1, column 6: unexpected end-of-input: expected close marker for Array",
        "{\"a\":1}} | line 1, column 8: unexpected close marker '}'",
        "{\"a\":1} {} | line 1, column 8: the value ends here, and more follows",
        "hello | line 1, column 1: unrecognized token 'hello': was expecting",
        "NaN | line 1, column 4: non-standard token 'NaN'",
        "{\"a\": 01} | line 1, column 8: invalid numeric value: Leading zeroes not allowed",
        "~~ | it is empty"
      })
  void a_payload_error_is_reported_with_its_position(
      String payload, String message, TestDatabase database) throws IOException {
    assertThat(refused(database, "enqueue", "echo", payload).err().getFirst())
        .startsWith("holdfast: the payload is not JSON: " + message);
    assertThat(
            refused(database, "schedules", "set", "s", "@daily", "echo", payload).err().getFirst())
        .startsWith("holdfast: the payload is not JSON: " + message);
  }

  @Test
  void a_payload_whose_quotes_the_shell_removed_suggests_single_quotes(TestDatabase database)
      throws IOException {
    assertThat(refused(database, "enqueue", "echo", "{seconds: 3}").err().getFirst())
        .endsWith("write it in single quotes: '{\"name\": 1}'");
    Path file = Files.writeString(folder.resolve("p.json"), "{seconds: 3}");
    assertThat(refused(database, "enqueue", "echo", "@" + file).err().getFirst())
        .doesNotContain("single quotes");
  }

  @Test
  void a_file_is_named_with_the_line(TestDatabase database) throws IOException {
    Path file = Files.writeString(folder.resolve("p.json"), "{\n  \"a\": 1,\n  b: 2\n}\n");
    assertThat(refused(database, "enqueue", "echo", "@" + file).err().getFirst())
        .contains("p.json is not JSON: line 3, column 3: unexpected character ('b')");
    Path open = Files.writeString(folder.resolve("open.json"), "{\n  \"a\": [1,\n 2\n");
    assertThat(refused(database, "enqueue", "echo", "@" + open).err().getFirst())
        .contains("line 4", "(start marker at line 2, column 8)");
  }

  @Test
  void with_a_job_per_line_the_invalid_line_is_named_and_none_is_enqueued(TestDatabase database)
      throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("p.ndjson"), "{\"a\": 1}\n\n{\"a\": 2}\n{\"a\": [1,\n{}\n");
    assertThat(refused(database, "enqueue", "echo", "@" + file, "--each-line").err().getFirst())
        .contains("p.ndjson is not JSON: line 4, column 10: unexpected end-of-input");
    assertThat(database.count("SELECT count(*) FROM holdfast.job")).isZero();
  }

  @Test
  void json_beyond_the_limits_of_the_parser_is_left_to_the_database(TestDatabase database)
      throws IOException {
    String deep = "[".repeat(1_500) + "]".repeat(1_500);
    assertThat(WrongCommand.of(0, "", "enqueue", "echo", deep).run(folder, database).code())
        .isZero();
  }
}
