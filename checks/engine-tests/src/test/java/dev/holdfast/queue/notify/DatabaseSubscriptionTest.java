package dev.holdfast.queue.notify;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.StatementObserver;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

class DatabaseSubscriptionTest extends QueueFixture {
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private volatile @Nullable DatabaseSubscription listener;

  /** Otherwise the pool would give the dead connection to a handler of the worker that stops. */
  @Test
  void its_connection_is_aborted_before_it_is_closed_and_not_after() throws Exception {
    CountDownLatch listening = new CountDownLatch(1);
    Watched source = new Watched();
    source.setUrl(db.url());
    source.setUser(db.user());
    source.setPassword(db.password());
    DatabaseSubscription made = subscribe(source, name -> listening.countDown());
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

  @Test
  void each_notification_calls_every_callback_once_even_if_one_throws() throws Exception {
    BlockingQueue<String> woken = new LinkedBlockingQueue<>();
    try (DatabaseSubscription shared = opened.notifier().subscribeToDatabase()) {
      shared.onWakeUp(
          name -> {
            throw new IllegalStateException("on purpose");
          });
      shared.onWakeUp(name -> woken.add("second " + name));
      shared.onWakeUp(name -> woken.add("third " + name));
      shared.add(QUEUE);
      assertThat(woken.poll(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo("second " + QUEUE);
      assertThat(woken.poll(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo("third " + QUEUE);
      // An enqueue of this process wakes it over the database alone.
      add(job());
      assertThat(woken.poll(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo("second " + QUEUE);
      assertThat(woken.poll(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo("third " + QUEUE);
      shared.add("other");
      assertThat(woken.poll(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo("second other");
      assertThat(woken.poll(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo("third other");
      assertThat(woken).isEmpty();
    }
  }

  @Test
  void a_subscription_is_counted_while_it_is_open() {
    DatabaseSubscription first = opened.notifier().subscribeToDatabase();
    DatabaseSubscription second = opened.notifier().subscribe(List.of(QUEUE), name -> {});
    assertThat(opened.notifier().subscriptions()).isEqualTo(2);
    first.close();
    first.close();
    assertThat(opened.notifier().subscriptions()).isEqualTo(1);
    second.close();
    assertThat(opened.notifier().subscriptions()).isZero();
  }

  private static DatabaseSubscription subscribe(DataSource source, Consumer<String> wake) {
    Database database = Database.pooled(source, StatementObserver.NONE, 1);
    return new QueueNotifier(database, source).subscribe(List.of(QUEUE), wake);
  }

  /** Records how its connections end; while one is given back, the subscription is closed. */
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
                DatabaseSubscription stopping = listener;
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
