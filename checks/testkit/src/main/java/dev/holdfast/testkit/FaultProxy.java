package dev.holdfast.testkit;

import dev.holdfast.testkit.proxy.ClientMessages;
import dev.holdfast.testkit.proxy.Gate;
import dev.holdfast.testkit.proxy.HttpRequests;
import dev.holdfast.testkit.proxy.LostReplies;
import dev.holdfast.testkit.proxy.ProxyConnection;
import dev.holdfast.testkit.proxy.Requests;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Stands between clients and a server on this machine and breaks what it is told to. */
public final class FaultProxy implements AutoCloseable {
  private static final int MAX_CONNECTIONS = 500;

  private final int serverPort;
  private final Supplier<Requests> requests;
  private final Listener listener;
  private final Gate gate = new Gate();
  private final LostReplies lost = new LostReplies();
  private final Set<ProxyConnection> connections = ConcurrentHashMap.newKeySet();
  private final AtomicInteger turnedAway = new AtomicInteger();
  private boolean turningAway;

  private FaultProxy(int serverPort, Supplier<Requests> requests) {
    this.serverPort = serverPort;
    this.requests = requests;
    this.listener = new Listener(this::serve);
  }

  /** Before a PostgreSQL server. */
  public static FaultProxy before(int serverPort) {
    return opened(new FaultProxy(serverPort, ClientMessages::new));
  }

  /** Before a server that speaks HTTP/1.1; a request is known by what stands in it. */
  public static FaultProxy beforeHttp(int serverPort) {
    return opened(new FaultProxy(serverPort, HttpRequests::new));
  }

  private static FaultProxy opened(FaultProxy proxy) {
    proxy.listener.open();
    return proxy;
  }

  public static FaultProxy before(TestDatabase database) {
    return before(database.port());
  }

  public int port() {
    return listener.port();
  }

  /** How to reach the database through this proxy. */
  public String url(TestDatabase database) {
    return "jdbc:postgresql://127.0.0.1:" + port() + "/" + database.name();
  }

  /** Resets all connections and refuses new ones, as when the server's machine is gone. */
  public synchronized void cut() {
    listener.close();
    reset();
  }

  /** Resets all connections; new ones are served. */
  public void reset() {
    connections.forEach(ProxyConnection::reset);
  }

  /** Resets all connections and each new one, as before a server that is not ready. */
  public synchronized void turnAway() {
    turningAway = true;
    reset();
  }

  /** How many new connections were reset. */
  public int turnedAway() {
    return turnedAway.get();
  }

  /** Refuses new connections, and keeps the others open but forwards nothing any more. */
  public synchronized void vanish() {
    listener.close();
    freeze();
  }

  /** Ends {@link #cut}, {@link #turnAway}, {@link #vanish} and {@link #freeze}. */
  public synchronized void mend() {
    turningAway = false;
    listener.open();
    thaw();
  }

  /** Forwards nothing any more, in neither direction, but keeps all connections open. */
  public void freeze() {
    gate.shut();
  }

  public void thaw() {
    gate.open();
  }

  /** Delays each packet, in both directions; by zero to end it. */
  public void slow(Duration packet) {
    gate.slow(packet);
  }

  /**
   * The next statement or request whose text or parameters contain this reaches the server and is
   * carried out, but its answer is thrown away and the client's connection reset.
   *
   * @return counted down once the answer is lost
   */
  public CountDownLatch loseNextReplyTo(String text) {
    return lost.arm(text);
  }

  public int connections() {
    return connections.size();
  }

  @Override
  public synchronized void close() {
    cut();
    gate.open();
  }

  // Synchronized with cut(), so that no connection slips in while all are being reset.
  private synchronized void serve(Socket client) {
    if (turningAway) {
      ProxyConnection.reset(client);
      turnedAway.incrementAndGet();
      return;
    }
    if (!listener.isOpen() || connections.size() >= MAX_CONNECTIONS) {
      ProxyConnection.reset(client);
      return;
    }
    try {
      Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
      ProxyConnection connection =
          new ProxyConnection(
              client, server, gate, lost.watch(requests.get()), connections::remove);
      connections.add(connection);
      connection.start();
    } catch (IOException e) {
      ProxyConnection.reset(client);
    }
  }
}
