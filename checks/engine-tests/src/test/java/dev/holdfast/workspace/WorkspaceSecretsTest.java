package dev.holdfast.workspace;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.OnlyWithAll;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** No secret that a program prints, writes or hides is kept. */
@OnlyWithAll
class WorkspaceSecretsTest extends WorkspaceFixture {
  @Test
  void no_secret_is_stored_anywhere() throws Exception {
    runtimes.put(
        "talk",
        """
        echo "using $API_TOKEN"; printf %s "$API_TOKEN" | base64
        [ -e $MARKS/again ] || { touch $MARKS/again; echo "refused: token $API_TOKEN"; exit 1; }
        echo "done with $API_TOKEN"; echo x > x
        """);
    runtimes.put("leak", "echo $API_TOKEN > config");
    runtimes.put(
        "hide", "{ printf '\\0\\1\\2'; printf %s $API_TOKEN | sed 's/./&\\x0/g'; } > config");
    runtimes.put(
        "draw",
        """
        colour() { printf %s "$API_TOKEN" | sed "s/./\\x1b[3&m&\\x1b[0m/g; s/3[^0-9]m/31m/g"; }
        colour; echo " is refused"; printf '%s\\n' "$API_TOKEN" | sed 's/./&\\x8&/g'
        printf '{"failureClass": "deterministic_policy", "message": "no %s"}' \\
          "$(colour | sed 's/\\x1b/\\\\u001b/g')" > $HOLDFAST_STEP_RESULT
        exit 1
        """);
    JobId talks = enqueued("talk");
    JobId draws = enqueued("draw");
    List<JobId> leaks = List.of(enqueued("leak"), enqueued("hide"));
    working();
    await(talks, JobState.SUCCEEDED);
    await(draws, JobState.FAILED);
    assertThat(failure(draws).message()).endsWith("draw exited with 1: no ***");
    assertThat(failure(draws).stackTrace()).isEqualTo("*** is refused\n***");
    assertThat(data(draws, EventType.STEP_FAILED)).contains("no *** #", "*** is refused");
    for (JobId leak : leaks) {
      await(leak, JobState.FAILED);
      assertThat(failure(leak).code()).isEqualTo("DETERMINISTIC_POLICY");
    }
    assertThat(
            sh("grep -rlaP 'c.{0,9}o.{0,9}r.{0,9}r.{0,9}e' scratch/" + draws + "/1/logs || true"))
        .isEmpty();
    for (String table : List.of("job", "event", "step", "attempt")) {
      assertThat(
              db.count(
                  "SELECT count(*) FROM holdfast." + table + " t WHERE t::text LIKE ?",
                  "%" + SECRET + "%"))
          .as(table)
          .isZero();
    }
    String encoded = sh("printf %s " + SECRET + " | base64");
    assertThat(sh("grep -rlE '" + SECRET + "|" + encoded + "' scratch/" + talks + " || true"))
        .isEmpty();
  }

  /** Output in every way a program has, in a failure and in a success. */
  @Test
  void none_of_a_hundred_planted_secrets_is_stored() throws Exception {
    List<String> secrets =
        IntStream.range(0, 100)
            .mapToObj(i -> "S3cr3t-%s%d/+é".formatted(Long.toString(i * 7_919L + 1_000_003, 36), i))
            .toList();
    Path planted = Files.write(folder.resolve("planted"), secrets);
    runtimes.put(
        "talk",
        """
        i=0
        while read -r secret; do
          i=$((i + 1))
          case $((i % 5)) in
            0) echo "token $secret refused" >&2 ;;
            1) printf %s "$secret" | base64 ;;
            2) printf 'half of %s' "$secret" ; sleep 0.001; echo ;;
            3) printf '{"password": "%s"}\\n' "$secret" ;;
            4) echo "https://user:$secret@example.org/" ;;
          esac
        done < $MARKS/planted
        printf '{"summary": "used %s"}' "$(head -n 1 $MARKS/planted)" > $HOLDFAST_STEP_RESULT
        [ $HOLDFAST_STEP_ATTEMPT -gt 1 ] || { tail -n 3 $MARKS/planted; exit 1; }
        cp $HOLDFAST_RETRY_CONTEXT copy-of-context; ps -ef > $MARKS/processes
        """);
    JobId id = enqueued("talk");
    known.addAll(secrets);
    StringBuilder kept = new StringBuilder();
    try (CapturedLog log = new CapturedLog()) {
      working();
      await(id, JobState.SUCCEEDED);
      assertThat(log.lines(Level.INFO, "step talk attempt 1")).isNotEmpty();
      Stream.of(Level.INFO, Level.WARN, Level.ERROR)
          .forEach(level -> kept.append(log.lines(level, "")));
    }
    Files.delete(planted);
    for (String table : List.of("job", "event", "step", "attempt", "completion", "log")) {
      kept.append(
          db.queryOne(
              String.class,
              "SELECT coalesce(string_agg(t::text, ''), '') FROM holdfast." + table + " t"));
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        kept.append(new String(Files.readAllBytes(file), UTF_8));
      }
    }
    kept.append(patch(id, "talk"));
    String all = kept.toString();
    assertThat(all).contains("refused", "used ***");
    Base64.Encoder base64 = Base64.getEncoder();
    for (String secret : secrets) {
      assertThat(all.contains(secret)).as(secret).isFalse();
      assertThat(all.contains(base64.encodeToString(secret.getBytes(UTF_8)))).as(secret).isFalse();
    }
  }
}
