package dev.holdfast.server.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.PeerInfo;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.ProxyProtocolData;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;

/**
 * Takes requests of HTTP/1.0, which proxies send unless they are told otherwise. The web server
 * knows 1.1 alone; to it they are told as the last request of a connection, which is what they are.
 */
public final class OlderHttp implements ServerConnectionSelector {
  private static final String OLDER = " HTTP/1.0";
  private static final String NEWER = " HTTP/1.1\r\nConnection: close\r\n";

  private final Http1ConnectionSelector newer;

  public OlderHttp(Http1Config config) {
    this.newer = Http1ConnectionSelector.builder().config(config).build();
  }

  @Override
  public int bytesToIdentifyConnection() {
    return newer.bytesToIdentifyConnection();
  }

  @Override
  public Support supports(BufferData data) {
    int end = data.indexOf((byte) '\n');
    return end > 0 && data.readString(end).endsWith(OLDER + "\r")
        ? Support.SUPPORTED
        : Support.UNSUPPORTED;
  }

  @Override
  public Set<String> supportedApplicationProtocols() {
    return Set.of("http/1.0");
  }

  @Override
  public ServerConnection connection(ConnectionContext context) {
    return newer.connection(new Told(context));
  }

  /** What is read, with another first line. */
  private static final class Retold implements Supplier<byte[]> {
    private final DataReader reader;
    private boolean begun;

    Retold(DataReader reader) {
      this.reader = reader;
    }

    @Override
    public byte[] get() {
      if (!begun) {
        begun = true;
        String line = reader.readLine();
        return (line.substring(0, line.length() - OLDER.length()) + NEWER)
            .getBytes(StandardCharsets.ISO_8859_1);
      }
      reader.ensureAvailable();
      return reader.readBytes(reader.available());
    }
  }

  /** The same connection, but for what is read from it. */
  private static final class Told implements ConnectionContext {
    private final ConnectionContext context;
    private final DataReader reader;

    Told(ConnectionContext context) {
      this.context = context;
      this.reader = DataReader.create(new Retold(context.dataReader()));
    }

    @Override
    public DataReader dataReader() {
      return reader;
    }

    @Override
    public ListenerContext listenerContext() {
      return context.listenerContext();
    }

    @Override
    public ExecutorService executor() {
      return context.executor();
    }

    @Override
    public DataWriter dataWriter() {
      return context.dataWriter();
    }

    @Override
    public io.helidon.webserver.Router router() {
      return context.router();
    }

    @Override
    public Optional<ProxyProtocolData> proxyProtocolData() {
      return context.proxyProtocolData();
    }

    @Override
    public HelidonSocket serverSocket() {
      return context.serverSocket();
    }

    @Override
    public PeerInfo remotePeer() {
      return context.remotePeer();
    }

    @Override
    public PeerInfo localPeer() {
      return context.localPeer();
    }

    @Override
    public boolean isSecure() {
      return context.isSecure();
    }

    @Override
    public String socketId() {
      return context.socketId();
    }

    @Override
    public String childSocketId() {
      return context.childSocketId();
    }
  }
}
