package dev.holdfast.queue.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.queue.Checkout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A rule written in SQL is defined in one file; other statements include it from there. */
class SingleDefinitionTest {
  @ParameterizedTest(name = "{0} is only in {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "INSERT INTO holdfast.event | EventSql.java",
        "INSERT INTO holdfast.attempt | EndAttemptSql.java",
        "holdfast.unique_after | Transition.java",
        "lease_expires_at IS NOT NULL | FenceSql.java",
        ".tenant = :tenant | TenantSql.java",
        "prepareStatement( | Rows.java",
        "pg_postmaster_start_time | LeaseExpiry.java",
        "concurrency_key IS NULL AND NOT | ClaimableSql.java",
      })
  void a_rule_is_written_in_one_file(String sql, String file) throws IOException {
    Pattern rule = Pattern.compile(Pattern.quote(sql));
    try (Stream<Path> files = Files.walk(Checkout.file("modules/queue/src/main/java"))) {
      assertThat(
              files
                  .filter(each -> each.toString().endsWith(".java"))
                  .filter(each -> rule.matcher(Checkout.read(each)).find())
                  .map(each -> each.getFileName().toString()))
          .containsExactly(file);
    }
  }
}
