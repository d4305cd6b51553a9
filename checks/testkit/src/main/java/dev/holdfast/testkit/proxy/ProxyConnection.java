package dev.holdfast.testkit.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.function.Consumer;

/** One client's way to the server and back. */
public final class ProxyConnection {
  private static final int CHUNK = 64 * 1024;

  private final Socket client;
  private final Socket server;
  private final Gate gate;
  private final LostReplies.Watch watch;
  private final Consumer<ProxyConnection> ended;

  public ProxyConnection(
      Socket client,
      Socket server,
      Gate gate,
      LostReplies.Watch watch,
      Consumer<ProxyConnection> ended) {
    this.client = client;
    this.server = server;
    this.gate = gate;
    this.watch = watch;
    this.ended = ended;
  }

  public void start() {
    Thread.ofVirtual().name("fault-proxy-there").start(() -> pump(client, server, this::request));
    Thread.ofVirtual().name("fault-proxy-back").start(() -> pump(server, client, this::reply));
  }

  private interface Inspection {
    /** False ends the connection instead of forwarding. */
    boolean forward(byte[] chunk, int length);
  }

  private boolean request(byte[] chunk, int length) {
    watch.request(chunk, length);
    return true;
  }

  private boolean reply(byte[] chunk, int length) {
    return !watch.losesReply();
  }

  private void pump(Socket from, Socket to, Inspection inspection) {
    byte[] chunk = new byte[CHUNK];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int length = in.read(chunk); length >= 0; length = in.read(chunk)) {
        gate.pass();
        if (!inspection.forward(chunk, length)) {
          break;
        }
        out.write(chunk, 0, length);
      }
      gate.pass();
    } catch (IOException e) {
      // One side is gone, so the other goes too.
    } finally {
      reset();
    }
  }

  public void reset() {
    reset(client);
    reset(server);
    ended.accept(this);
    watch.connectionEnded();
  }

  public static void reset(Socket socket) {
    try {
      // With no time to linger the close is a reset, which the other side notices at once.
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      // Closed already.
    }
  }
}
