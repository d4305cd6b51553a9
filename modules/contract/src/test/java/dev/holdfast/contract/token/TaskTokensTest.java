package dev.holdfast.contract.token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.auth0.jwt.JWT;
import com.auth0.jwt.JWTCreator;
import com.auth0.jwt.algorithms.Algorithm;
import dev.holdfast.contract.token.TokenException.Reason;
import dev.holdfast.model.job.JobId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TaskTokensTest {
  private static final Instant NOW = Instant.parse("2025-01-15T10:00:00Z");
  private static final TaskScope SCOPE =
      new TaskScope("acme", "main", JobId.next(), JobId.next(), 3);

  private final Map<String, SigningKey> keys = new HashMap<>();
  private String current = "k1";
  private Instant now = NOW;
  private final TaskTokens tokens =
      new TaskTokens(
          new SigningKeys() {
            @Override
            public SigningKey current() {
              return byId(current).orElseThrow();
            }

            @Override
            public Optional<SigningKey> byId(String kid) {
              return Optional.ofNullable(keys.get(kid));
            }
          },
          TokenLifetime.DEFAULT,
          () -> now);

  TaskTokensTest() {
    keys.put("k1", new SigningKey("k1", secret('a')));
  }

  private static String secret(char with) {
    return Base64.getEncoder().encodeToString(bytes(with));
  }

  private static byte[] bytes(char with) {
    return String.valueOf(with).repeat(SigningKey.BYTES).getBytes(StandardCharsets.UTF_8);
  }

  private Reason refused(String token) {
    return catchThrowableOfType(TokenException.class, () -> tokens.read(token)).reason();
  }

  /** A valid token, except for the given change. */
  private static String token(UnaryOperator<JWTCreator.Builder> change, Algorithm algorithm) {
    return change
        .apply(
            JWT.create()
                .withKeyId("k1")
                .withIssuer("holdfast")
                .withAudience("holdfast:task")
                .withSubject(SCOPE.task().toString())
                .withClaim("tenant", SCOPE.tenant())
                .withClaim("workspace", SCOPE.workspace())
                .withClaim("run", SCOPE.run().toString())
                .withClaim("attempt", SCOPE.attempt())
                .withIssuedAt(NOW)
                .withNotBefore(NOW)
                .withExpiresAt(NOW.plusSeconds(600)))
        .sign(algorithm);
  }

  private static String token(UnaryOperator<JWTCreator.Builder> change) {
    return token(change, Algorithm.HMAC256(bytes('a')));
  }

  @Test
  void a_token_contains_the_signed_claims() throws TokenException {
    TaskTokens.Signed signed = tokens.sign(SCOPE, null);
    TaskTokens.Read read = tokens.read(signed.text());
    assertThat(read.scope()).isEqualTo(SCOPE);
    assertThat(read.issuedAt()).isEqualTo(NOW);
    assertThat(read.expiresAt()).isEqualTo(signed.expiresAt());
    assertThat(tokens.read(token(same -> same)).scope()).isEqualTo(SCOPE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"kid", "iss", "aud", "sub", "tenant", "workspace", "run", "attempt", "iat", "exp"})
  void every_claim_is_required(String claim) {
    String missing =
        token(
            builder ->
                switch (claim) {
                  case "kid" -> builder.withKeyId(null);
                  case "aud" -> builder.withAudience((String[]) null);
                  case "iat" -> builder.withIssuedAt((Instant) null);
                  case "exp" -> builder.withExpiresAt((Instant) null);
                  case "attempt" -> builder.withClaim("attempt", (Integer) null);
                  default -> builder.withClaim(claim, (String) null);
                });
    assertThat(refused(missing)).isEqualTo(Reason.INVALID);
  }

  @Test
  void a_claim_of_another_type_or_value_is_rejected() {
    assertThat(refused(token(b -> b.withIssuer("other")))).isEqualTo(Reason.INVALID);
    assertThat(refused(token(b -> b.withAudience("holdfast:api")))).isEqualTo(Reason.INVALID);
    assertThat(refused(token(b -> b.withSubject("1-1-1-1-1")))).isEqualTo(Reason.INVALID);
    assertThat(refused(token(b -> b.withClaim("run", "nonsense")))).isEqualTo(Reason.INVALID);
    assertThat(refused(token(b -> b.withClaim("tenant", 7)))).isEqualTo(Reason.INVALID);
    assertThat(refused(token(b -> b.withClaim("tenant", "")))).isEqualTo(Reason.INVALID);
    assertThat(refused(token(b -> b.withClaim("attempt", 0)))).isEqualTo(Reason.INVALID);
    assertThat(refused(token(b -> b.withClaim("attempt", "3")))).isEqualTo(Reason.INVALID);
    assertThat(refused(token(b -> b.withClaim("attempt", 1L << 40)))).isEqualTo(Reason.INVALID);
  }

  @Test
  void any_other_algorithm_or_key_is_rejected() {
    assertThat(refused(token(b -> b, Algorithm.none()))).isEqualTo(Reason.INVALID);
    assertThat(refused(token(b -> b, Algorithm.HMAC512(bytes('a'))))).isEqualTo(Reason.INVALID);
    assertThat(refused(token(b -> b, Algorithm.HMAC256(bytes('b'))))).isEqualTo(Reason.INVALID);
    assertThat(refused(token(b -> b.withKeyId("k2")))).isEqualTo(Reason.INVALID);
    String good = tokens.sign(SCOPE, null).text();
    assertThat(refused(good.substring(0, good.length() - 5))).isEqualTo(Reason.INVALID);
    assertThat(refused(good.substring(0, good.lastIndexOf('.') + 1))).isEqualTo(Reason.INVALID);
    assertThat(refused(good + ".x")).isEqualTo(Reason.INVALID);
    assertThat(refused("a".repeat(5_000))).isEqualTo(Reason.INVALID);
    assertThat(refused("")).isEqualTo(Reason.INVALID);
  }

  @Test
  void a_token_is_rejected_before_its_start_and_after_its_expiry() throws TokenException {
    String token = tokens.sign(SCOPE, null).text();
    now = NOW.plus(Duration.ofHours(1)).plusSeconds(31);
    assertThat(refused(token)).isEqualTo(Reason.EXPIRED);
    now = NOW.minusSeconds(31);
    assertThat(refused(token)).isEqualTo(Reason.NOT_YET_VALID);
    // Two servers' clocks may differ a little.
    now = NOW.minusSeconds(20);
    assertThat(tokens.read(token).scope()).isEqualTo(SCOPE);
  }

  @Test
  void after_a_rotation_old_tokens_are_valid_until_their_key_is_removed() throws TokenException {
    String old = tokens.sign(SCOPE, null).text();
    keys.put("k2", new SigningKey("k2", secret('b')));
    current = "k2";
    String fresh = tokens.sign(SCOPE, null).text();
    assertThat(JWT.decode(fresh).getKeyId()).isEqualTo("k2");
    assertThat(tokens.read(old).scope()).isEqualTo(SCOPE);
    assertThat(tokens.read(fresh).scope()).isEqualTo(SCOPE);
    keys.remove("k1");
    assertThat(refused(old)).isEqualTo(Reason.INVALID);
  }

  @Test
  void a_token_covers_the_deadline_of_its_task_up_to_two_hours() {
    assertThat(tokens.sign(SCOPE, null).expiresAt()).isEqualTo(NOW.plusSeconds(3_600));
    Instant soon = NOW.plusSeconds(60);
    assertThat(tokens.sign(SCOPE, soon).expiresAt()).isEqualTo(NOW.plusSeconds(3_600));
    Instant later = NOW.plusSeconds(5_000);
    assertThat(tokens.sign(SCOPE, later).expiresAt()).isAfterOrEqualTo(later);
    Instant tomorrow = NOW.plus(Duration.ofDays(1));
    assertThat(tokens.sign(SCOPE, tomorrow).expiresAt()).isEqualTo(NOW.plusSeconds(7_200));
  }

  @Test
  void a_signing_key_must_be_long_enough_and_is_not_shown() {
    assertThat(
            catchThrowableOfType(
                IllegalArgumentException.class,
                () -> new SigningKey("k", Base64.getEncoder().encodeToString(new byte[31]))))
        .isNotNull();
    assertThat(keys.get("k1")).asString().doesNotContain(secret('a'));
  }
}
