package dev.holdfast.redaction;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.Effort;
import dev.holdfast.testkit.Extent;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Much without a line end, and as much with few. */
class HostileTextTest {
  private static final int SIZE = Extent.of(1 << 16, 1 << 17);
  private static final Duration LIMIT = Duration.ofSeconds(Extent.of(2, 4));
  // As long as a line may be without being cut.
  private static final int LINE = 16_000;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "=",
        "\"",
        "'",
        "\\",
        "\\\"",
        "-",
        ".",
        ":",
        "://",
        "://a:",
        "://a:a@",
        "a:a:",
        "eyJ",
        "eyJaaaaaaaa",
        ".eyJaaaaaaaa",
        "-----BEGIN ",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----***",
        "-----END",
        "password",
        "password=",
        "password=x(",
        "password: ",
        "password:",
        "password=\"",
        "password='\\",
        "--password ",
        "--password=a,",
        "token: a b ",
        "secret=(",
        "pass-",
        "pass_",
        "auth.",
        "key ",
        "authorization: ",
        "authorization: bearer ",
        "bearer ",
        "bearer a1",
        "<password>",
        "sk-",
        "sk-a-",
        "SK0",
        "ghp_",
        "M.aaaaaa.",
        "MTaaaaaaaaaaaaaaaaaaaaaaaaa.aaaaaa.",
        "1234567:AA",
        "a,a=",
        ",a",
        "password=,a",
        "token=$",
        "token={{",
        "token=%(",
        "%3D",
        "\u001b[1;",
        "\u001b[1;1m",
        "\b",
        "a\b",
        "\r",
        "a\r",
        "\u001b]",
        "\u001b[9C",
        "curl ",
        "curl -u ",
        "curl -u a:",
        "mysql -p",
        "password a ",
        "login password ",
        "cookie: a=b;",
        "cookie: a;",
        "a=b; cookie=",
        "cookie: a='",
        "cookie=[a=b\", \"",
        "docker login ",
        "password\t",
        "\u001b[9G",
        "\u001b[31ma",
        "\udb40",
        "a\u200d",
        "known\n",
        "nownvalue\n",
        "***",
        "password=***",
        "knownknown",
        "knownvalu",
        "a2",
        " "
      })
  void is_scrubbed_in_linear_time(String pattern) {
    Effort.isLinear(SIZE, LIMIT, size -> scrub(pattern, size));
  }

  private static void scrub(String pattern, int size) {
    Scrubber scrubber = Scrubber.knowing(List.of("knownvalue", "knownknownknownvalue"));
    String hostile = pattern.repeat(size / pattern.length());
    assertThat(scrubber.scrub(hostile)).isNotNull();
    // Overwritten text is dropped.
    assertThat(scrubber.scrub("password=\"" + hostile))
        .startsWith(pattern.matches("a[\r\b]|.*9G") ? "" : "password=\"");
    String line = pattern.repeat(LINE / pattern.length()) + "\n";
    assertThat(scrubber.scrub(line.repeat(size / LINE))).isNotNull();
  }
}
