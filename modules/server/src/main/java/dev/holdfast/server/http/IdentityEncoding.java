package dev.holdfast.server.http;

import io.helidon.http.encoding.ContentDecoder;
import io.helidon.http.encoding.ContentEncoder;
import io.helidon.http.encoding.ContentEncoding;
import java.util.Set;

/** Accepts {@code Content-Encoding: identity}, which the web server does not know. */
public final class IdentityEncoding implements ContentEncoding {
  private static final String IDENTITY = "identity";

  @Override
  public Set<String> ids() {
    return Set.of(IDENTITY, "Identity");
  }

  @Override
  public boolean supportsEncoding() {
    return false;
  }

  @Override
  public boolean supportsDecoding() {
    return true;
  }

  @Override
  public ContentDecoder decoder() {
    return ContentDecoder.NO_OP;
  }

  @Override
  public ContentEncoder encoder() {
    return ContentEncoder.NO_OP;
  }

  @Override
  public String name() {
    return IDENTITY;
  }

  @Override
  public String type() {
    return IDENTITY;
  }
}
