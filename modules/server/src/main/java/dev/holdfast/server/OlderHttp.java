package dev.holdfast.server;

import io.helidon.common.buffers.BufferData;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.util.Set;

/**
 * Takes requests of HTTP/1.0, which proxies send unless they are told otherwise. The web server can
 * read them, but hangs up on whoever begins with one.
 */
final class OlderHttp implements ServerConnectionSelector {
  private static final String END_OF_LINE = " HTTP/1.0\r";

  private final Http1ConnectionSelector newer;

  OlderHttp(Http1Config config) {
    this.newer = Http1ConnectionSelector.builder().config(config).build();
  }

  @Override
  public int bytesToIdentifyConnection() {
    return newer.bytesToIdentifyConnection();
  }

  @Override
  public Support supports(BufferData data) {
    int end = data.indexOf((byte) '\n');
    return end > 0 && data.readString(end).endsWith(END_OF_LINE)
        ? Support.SUPPORTED
        : Support.UNSUPPORTED;
  }

  @Override
  public Set<String> supportedApplicationProtocols() {
    return Set.of("http/1.0");
  }

  @Override
  public ServerConnection connection(ConnectionContext context) {
    return newer.connection(context);
  }
}
