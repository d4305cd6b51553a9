package dev.holdfast.server.http;

import io.helidon.http.encoding.ContentDecoder;
import io.helidon.http.encoding.ContentEncoder;
import io.helidon.http.encoding.ContentEncoding;
import java.util.Set;

/**
 * Accepts {@code Content-Encoding: identity}, which the web server does not know, and the usual
 * compressions, so that they are refused with a message of our own and not as malformed requests.
 */
public final class IdentityEncoding implements ContentEncoding {
  public static final String IDENTITY = "identity";

  @Override
  public Set<String> ids() {
    return Set.of(IDENTITY, "Identity", "gzip", "x-gzip", "deflate", "compress", "br", "zstd");
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
