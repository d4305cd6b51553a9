package dev.holdfast.contract.token;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.wait.OpenWait;
import java.net.URI;
import java.time.Instant;
import java.util.function.Supplier;

/** Makes the links by which somebody decides who has no key. */
public final class ApprovalLinks {
  /** The path of a link, before its token. */
  public static final String PATH = "/approvals/";

  private final ApprovalTokens tokens;
  private final Supplier<URI> server;

  /**
   * @param server where people reach the server; throws where that is not known
   */
  public ApprovalLinks(ApprovalTokens tokens, Supplier<URI> server) {
    this.tokens = tokens;
    this.server = server;
  }

  /** Makes links. */
  @FunctionalInterface
  public interface Maker {
    /** To a question that is asked now. */
    Link to(JobId job, OpenWait open);
  }

  /** A link and when it ends. Whoever has it decides: it is as secret as a key. */
  public record Link(URI url, Instant expiresAt) {
    @Override
    public String toString() {
      return "a link until " + expiresAt;
    }
  }

  /** To a question that is asked now. */
  public Link to(JobId job, OpenWait open) {
    ApprovalTokens.Signed token = tokens.sign(job, open);
    return new Link(URI.create(server.get() + PATH + token.text()), token.expiresAt());
  }
}
