package dev.holdfast.server.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.util.Set;

/** HTTP/1.1 on connections that tell, while a request waits, whether its client has gone. */
public final class WatchedConnectionSelector implements ServerConnectionSelector {
  private static final ThreadLocal<ClientWatch> OF_THREAD = new ThreadLocal<>();

  private final Http1ConnectionSelector http11;

  public WatchedConnectionSelector(Http1Config config) {
    this.http11 = Http1ConnectionSelector.builder().config(config).build();
  }

  /** The watch of the request that this thread answers. */
  public static ClientWatch ofRequest() {
    ClientWatch watch = OF_THREAD.get();
    return watch == null ? ClientWatch.NONE : watch;
  }

  @Override
  public int bytesToIdentifyConnection() {
    return http11.bytesToIdentifyConnection();
  }

  @Override
  public Support supports(BufferData data) {
    return http11.supports(data);
  }

  @Override
  public Set<String> supportedApplicationProtocols() {
    return http11.supportedApplicationProtocols();
  }

  /** With TLS, reading and writing at the same time is not known to be safe. */
  @Override
  public ServerConnection connection(ConnectionContext context) {
    if (context.isSecure()) {
      return http11.connection(context);
    }
    ClientWatch watch = new ClientWatch(context.dataReader());
    // This thread is that of the connection: it answers all of its requests.
    OF_THREAD.set(watch);
    return http11.connection(new ConnectionWithReader(context, DataReader.create(watch)));
  }
}
