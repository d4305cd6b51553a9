package dev.holdfast.server.http;

import io.helidon.common.buffers.DataReader;
import io.helidon.webserver.CloseConnectionException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads a connection, and tells whether its client has gone while a request waits for its answer.
 *
 * <p>The end of a connection is seen only by reading from it. So while a request waits, a thread
 * reads ahead; what it reads, the beginning of the client's next request, goes to whoever reads
 * next. All but that thread is the thread of the connection.
 */
public final class ClientWatch implements Supplier<byte[]> {
  /** Of a connection that cannot be watched: its client never seems to be gone. */
  public static final ClientWatch NONE = new ClientWatch(null);

  private final @Nullable DataReader reader;
  private @Nullable CompletableFuture<byte[]> ahead;

  ClientWatch(@Nullable DataReader reader) {
    this.reader = reader;
  }

  /** Calls the action, on another thread, as soon as the client has closed the connection. */
  public void whenGone(Runnable action) {
    DataReader from = reader;
    if (from == null) {
      return;
    }
    if (ahead == null) {
      CompletableFuture<byte[]> bytes = new CompletableFuture<>();
      ahead = bytes;
      Thread.ofVirtual().name("holdfast-client-watch").start(() -> readAhead(from, bytes));
    }
    var unused =
        ahead.whenComplete(
            (bytes, end) -> {
              if (end != null) {
                action.run();
              }
            });
  }

  /** Whether the client is known to be gone; of a client that was never watched it is not. */
  public boolean isGone() {
    return ahead != null && ahead.isCompletedExceptionally();
  }

  private static void readAhead(DataReader reader, CompletableFuture<byte[]> bytes) {
    try {
      bytes.complete(read(reader));
    } catch (RuntimeException end) {
      bytes.completeExceptionally(end);
    }
  }

  private static byte[] read(DataReader reader) {
    reader.ensureAvailable();
    return reader.readBytes(reader.available());
  }

  @Override
  public byte[] get() {
    CompletableFuture<byte[]> pending = ahead;
    if (pending == null) {
      return read(Objects.requireNonNull(reader));
    }
    ahead = null;
    try {
      return pending.get();
    } catch (ExecutionException end) {
      throw end.getCause() instanceof RuntimeException cause
          ? cause
          : new IllegalStateException(end);
    } catch (InterruptedException idle) {
      // The web server ends an idle connection by this. Its thread does not read from the channel,
      // which would close it, so the connection is ended here.
      Thread.currentThread().interrupt();
      throw new CloseConnectionException("the connection was interrupted", idle);
    }
  }
}
