package dev.holdfast.queue.notify;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.queue.QueueFixture;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

class NotificationListenerTest extends QueueFixture {
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private volatile @Nullable NotificationListener listener;

  /** Otherwise the pool would hand the dead connection to a handler of the worker that stops. */
  @Test
  void its_connection_is_ended_before_it_is_given_back_and_never_after() throws Exception {
    CountDownLatch listening = new CountDownLatch(1);
    Watched source = new Watched();
    source.setUrl(db.url());
    source.setUser(db.user());
    source.setPassword(db.password());
    NotificationListener made =
        new NotificationListener(source, List.of(QUEUE), queue -> listening.countDown());
    assertThat(listening.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
    calls.clear(); // its probe has closed one
    listener = made;
    db.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            + " WHERE datname = ? AND pid <> pg_backend_pid()",
        db.name());
    await().atMost(SOON).until(() -> calls.contains("closed"));
    assertThat(calls).containsExactly("abort", "close", "closed");
  }

  /** Tells how its connections end; while one is being given back, the listener is closed. */
  private final class Watched extends PGSimpleDataSource {
    private static final long serialVersionUID = 1;

    @Override
    public Connection getConnection() throws SQLException {
      Connection connection = super.getConnection();
      return (Connection)
          Proxy.newProxyInstance(
              Connection.class.getClassLoader(),
              new Class<?>[] {Connection.class},
              (proxy, method, arguments) -> {
                boolean closing = method.getName().equals("close");
                if (closing || method.getName().equals("abort")) {
                  calls.add(method.getName());
                }
                NotificationListener stopping = listener;
                if (closing && stopping != null) {
                  stopping.close();
                }
                try {
                  return method.invoke(connection, arguments);
                } catch (InvocationTargetException thrown) {
                  throw thrown.getCause();
                } finally {
                  if (closing && stopping != null) {
                    calls.add("closed");
                  }
                }
              });
    }
  }
}
