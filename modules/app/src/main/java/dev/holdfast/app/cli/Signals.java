package dev.holdfast.app.cli;

import dev.holdfast.app.terminal.Terminal;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Waits for SIGTERM or SIGINT; a second one ends the process at once.
 *
 * <p>This is no shutdown hook: while hooks run, the JVM ignores further signals, and a second
 * Ctrl-C must end the process.
 */
public final class Signals {
  private static final int BASE = 128;
  private static final Duration SAME = Duration.ofMillis(50);

  private final CountDownLatch first = new CountDownLatch(1);
  private final AtomicLong firstAt = new AtomicLong();

  public static Signals install() {
    Signals signals = new Signals();
    signals.on("TERM", 15);
    signals.on("INT", 2);
    return signals;
  }

  /** As if the first signal had come. */
  public void raise() {
    firstAt.compareAndSet(0, System.nanoTime());
    first.countDown();
  }

  public void await() throws InterruptedException {
    first.await();
  }

  public boolean await(long millis) throws InterruptedException {
    return first.await(millis, TimeUnit.MILLISECONDS);
  }

  private void on(String name, int number) {
    try {
      // By reflection: javac warns about sun.misc, and warnings are errors in this build.
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object proxy =
          Proxy.newProxyInstance(
              Signals.class.getClassLoader(),
              new Class<?>[] {handler},
              (self, method, arguments) -> {
                if (method.getName().equals("handle")) {
                  received(number);
                  return null;
                }
                return switch (method.getName()) {
                  case "hashCode" -> System.identityHashCode(self);
                  case "equals" ->
                      System.identityHashCode(self) == System.identityHashCode(arguments[0]);
                  default -> "signal handler for " + name;
                };
              });
      signal
          .getMethod("handle", signal, handler)
          .invoke(null, signal.getConstructor(String.class).newInstance(name), proxy);
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException("this JVM cannot handle signals", impossible);
    }
  }

  private void received(int number) {
    long now = System.nanoTime();
    // One Ctrl-C may arrive twice, sent to the process and to its group.
    if (!firstAt.compareAndSet(0, now) && now - firstAt.get() > SAME.toNanos()) {
      Terminal.error("holdfast: second signal, ending at once");
      Runtime.getRuntime().halt(BASE + number);
    }
    first.countDown();
  }
}
