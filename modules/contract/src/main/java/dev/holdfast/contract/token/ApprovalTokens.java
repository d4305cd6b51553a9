package dev.holdfast.contract.token;

import com.auth0.jwt.interfaces.DecodedJWT;
import dev.holdfast.contract.token.TokenException.Reason;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.wait.OpenWait;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Signs and reads the tokens of links to questions. A token is good for one question: of one job,
 * under one id, asked at one moment. Once that is decided, there is nothing left that it could do.
 */
public final class ApprovalTokens {
  /** No link lives longer, however long its question is open. */
  public static final Duration LONGEST = Duration.ofDays(30);

  private static final String AUDIENCE = "holdfast:approval";
  private static final String WAIT = "wait";
  private static final String SINCE = "since";
  private static final String ROLE = "role";

  /** Clocks of two servers may differ a little. */
  private static final Duration LEEWAY = Duration.ofSeconds(30);

  private final SignedTokens tokens;
  private final InstantSource clock;

  public ApprovalTokens(SigningKeys keys, InstantSource clock) {
    this.tokens = new SignedTokens("link", AUDIENCE, LEEWAY, keys, clock);
    this.clock = clock;
  }

  /**
   * What a link is for.
   *
   * @param waitId under which the job asks
   * @param since when it has asked
   * @param role of who decides by it: the one that the question asks for
   */
  public record Scope(JobId job, String waitId, Instant since, Role role) {}

  /** A token and when it ends. */
  public record Signed(String text, Instant expiresAt) {
    @Override
    public String toString() {
      return "a link until " + expiresAt;
    }
  }

  /** For a question that is asked now. */
  public Signed sign(JobId job, OpenWait open) {
    if (open.question() == null) {
      throw new IllegalArgumentException("'" + open.id() + "' asks nobody");
    }
    Role role = Role.of(open.question().role().word());
    Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
    Instant expiresAt = end(now, open.until());
    String text =
        tokens.sign(
            token ->
                token
                    .withSubject(job.toString())
                    .withClaim(WAIT, open.id())
                    .withClaim(SINCE, micros(open.since()))
                    .withClaim(ROLE, role.word())
                    .withIssuedAt(now)
                    .withExpiresAt(expiresAt));
    return new Signed(text, expiresAt);
  }

  private static Instant end(Instant now, @Nullable Instant until) {
    Instant longest = now.plus(LONGEST);
    // A token has whole seconds.
    return until == null || until.isAfter(longest)
        ? longest
        : until.plusSeconds(1).truncatedTo(ChronoUnit.SECONDS);
  }

  private static long micros(Instant moment) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, moment);
  }

  public Scope read(String text) throws TokenException {
    DecodedJWT token = tokens.verified(text);
    String job = token.getSubject();
    String wait = token.getClaim(WAIT).asString();
    Long since = token.getClaim(SINCE).asLong();
    String role = token.getClaim(ROLE).asString();
    if (job == null || wait == null || since == null || role == null) {
      throw new TokenException(Reason.INVALID, "the link lacks a claim", null);
    }
    try {
      return new Scope(
          JobId.parse(job),
          Limits.stepId(wait),
          Instant.EPOCH.plus(since, ChronoUnit.MICROS),
          Role.of(role));
    } catch (RefusedException malformed) {
      throw new TokenException(Reason.INVALID, "the link has a malformed claim", malformed);
    }
  }
}
