package dev.holdfast.server.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Accepts requests of HTTP/1.0, which proxies send by default. The web server knows HTTP/1.1 only,
 * so the first line is rewritten to a request of HTTP/1.1 with {@code Connection: close}.
 */
public final class Http10ConnectionSelector implements ServerConnectionSelector {
  private static final String HTTP_10 = " HTTP/1.0";
  private static final String HTTP_11_CLOSE = " HTTP/1.1\r\nConnection: close\r\n";

  private final Http1ConnectionSelector http11;

  public Http10ConnectionSelector(Http1Config config) {
    this.http11 = Http1ConnectionSelector.builder().config(config).build();
  }

  @Override
  public int bytesToIdentifyConnection() {
    return http11.bytesToIdentifyConnection();
  }

  @Override
  public Support supports(BufferData data) {
    int end = data.indexOf((byte) '\n');
    return end > 0 && data.readString(end).endsWith(HTTP_10 + "\r")
        ? Support.SUPPORTED
        : Support.UNSUPPORTED;
  }

  @Override
  public Set<String> supportedApplicationProtocols() {
    return Set.of("http/1.0");
  }

  @Override
  public ServerConnection connection(ConnectionContext context) {
    DataReader reader = DataReader.create(new RewrittenFirstLine(context.dataReader()));
    return http11.connection(new ConnectionWithReader(context, reader));
  }

  /** Reads the connection with the first line rewritten. */
  private static final class RewrittenFirstLine implements Supplier<byte[]> {
    private final DataReader reader;
    private boolean begun;

    RewrittenFirstLine(DataReader reader) {
      this.reader = reader;
    }

    @Override
    public byte[] get() {
      if (!begun) {
        begun = true;
        String line = reader.readLine();
        return (line.substring(0, line.length() - HTTP_10.length()) + HTTP_11_CLOSE)
            .getBytes(StandardCharsets.ISO_8859_1);
      }
      reader.ensureAvailable();
      return reader.readBytes(reader.available());
    }
  }
}
