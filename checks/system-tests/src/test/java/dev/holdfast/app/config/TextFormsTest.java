package dev.holdfast.app.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.app.cli.Table;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.app.setting.SettingValues;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How durations, URLs and tables are parsed and printed. */
class TextFormsTest {
  @ParameterizedTest
  @CsvSource({"250ms,250", "90s,90000", "15m,900000", "1h30m,5400000", "7d,604800000", "0.5s,500"})
  void durations_are_parsed(String text, long millis) {
    assertThat(Durations.parse(text)).isEqualTo(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "5", "s", "5 s", "-5s", "5x", "5s5", "1h-3m"})
  void an_invalid_duration_is_rejected(String text) {
    assertThatThrownBy(() -> Durations.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("15m");
  }

  @ParameterizedTest
  @CsvSource({"3,3 ms", "1400,1.4 s", "750000,12 min 30 s", "11100000,3 h 5 min", "432000000,5 d"})
  void durations_are_shown_short(long millis, String text) {
    assertThat(Durations.text(Duration.ofMillis(millis))).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "0,0s",
    "250,250ms",
    "1500,1500ms",
    "90000,90s",
    "300000,5m",
    "7200000,2h",
    "604800000,7d"
  })
  void durations_are_shown_as_a_setting_would_be_written(long millis, String text) {
    assertThat(Durations.compact(Duration.ofMillis(millis))).isEqualTo(text);
    assertThat(Durations.parse(text)).isEqualTo(Duration.ofMillis(millis));
  }

  @Test
  void a_database_url_is_accepted_in_the_form_of_psql() {
    DatabaseUrl url =
        DatabaseUrl.parse("postgres://ada:p%40ss@db.example:6543/jobs?sslmode=require", "", "");
    assertThat(url.jdbc()).isEqualTo("jdbc:postgresql://db.example:6543/jobs?sslmode=require");
    assertThat(url.user()).isEqualTo("ada");
    assertThat(url.password()).isEqualTo("p@ss");
  }

  @Test
  void a_database_url_never_shows_its_password() {
    assertThat(DatabaseUrl.parse("postgres://ada:secret@db/jobs", "", "").toString())
        .doesNotContain("secret");
    assertThat(DatabaseUrl.parse("jdbc:postgresql://db/jobs?password=secret&x=1", "", "").shown())
        .isEqualTo("postgresql://db/jobs?password=***&x=1");
    assertThat(SettingValues.withoutPasswords("postgres://ada:secret@db/jobs"))
        .isEqualTo("postgres://ada:***@db/jobs");
    assertThat(
            SettingValues.withoutPasswords(
                "jdbc:postgresql://db/jobs?sslkey=a.p12&sslpassword=secret"))
        .isEqualTo("jdbc:postgresql://db/jobs?sslkey=a.p12&sslpassword=***");
    assertThatThrownBy(() -> DatabaseUrl.parse("postgres://ada:sec ret@db/jobs", "", ""))
        .isInstanceOf(CommandException.class)
        .hasMessageNotContaining("sec ret");
  }

  @ParameterizedTest
  @ValueSource(strings = {"mysql://db/jobs", "db", "postgres:///jobs", "http://db"})
  void other_urls_are_rejected_with_an_example(String text) {
    assertThatThrownBy(() -> DatabaseUrl.parse(text, "", ""))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("postgres://user:password@host:5432/database");
  }

  @Test
  void a_table_is_as_wide_as_its_cells_and_shows_no_control_characters() {
    String text =
        new Table("A", "LONG").row("xyz", "1").row("\u001b[31mred", "two\nlines").toString();
    assertThat(text.lines()).containsExactly("A    LONG", "xyz  1", "red  two | lines");
  }
}
