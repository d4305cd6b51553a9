package dev.holdfast.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

/** Free ports on the loopback address. */
final class Ports {
  // Below the range the kernel gives to outgoing connections: such a port stays free while the
  // server is down, so it comes back at the address its clients know.
  private static final int FIRST = 20_000;
  private static final int COUNT = 10_000;
  private static final int TRIES = 100;

  private Ports() {}

  static boolean isFree(int port) {
    try (ServerSocket socket =
        new ServerSocket(port, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))) {
      return socket.isBound();
    } catch (IOException e) {
      return false;
    }
  }

  static int rememberedOrFree(Path file) throws IOException {
    try {
      int remembered = Integer.parseInt(Files.readString(file).strip());
      return isFree(remembered) ? remembered : anyFree();
    } catch (NoSuchFileException | NumberFormatException e) {
      return anyFree();
    }
  }

  private static int anyFree() {
    for (int i = 0; i < TRIES; i++) {
      int port = FIRST + ThreadLocalRandom.current().nextInt(COUNT);
      if (isFree(port)) {
        return port;
      }
    }
    throw new EmbeddedPostgresException(
        "no free port found between %d and %d: free one, or name one"
            .formatted(FIRST, FIRST + COUNT - 1));
  }
}
