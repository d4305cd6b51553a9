package dev.holdfast.shipped;

import static dev.holdfast.testkit.Soon.AMPLE;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;

/** The environment of a new login, and the processes left after it. */
final class NewUser {
  private static final String MARK = "SHIPPED_MARK";
  private static final Set<String> KEPT =
      Set.of("PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "JAVA_HOME");
  private static final Pattern ALSO_KEPT =
      Pattern.compile("LC_.*|MAVEN_(OPTS|ARGS)|SSL_CERT_.*|.*_proxy", Pattern.CASE_INSENSITIVE);

  private NewUser() {}

  /** No setting of the shell that runs the tests reaches the processes under test. */
  static void environment(Map<String, String> environment) {
    environment
        .keySet()
        .removeIf(name -> !KEPT.contains(name) && !ALSO_KEPT.matcher(name).matches());
  }

  static void mark(Map<String, String> environment, String mark) {
    environment.put(MARK, mark);
  }

  /**
   * A port without a listener. Below the ephemeral ports of the system, so that it is not given
   * away before it is used.
   */
  static int freePort() {
    for (int tries = 0; tries < 100; tries++) {
      int port = ThreadLocalRandom.current().nextInt(10_000, 20_000);
      if (isFree(port)) {
        return port;
      }
    }
    throw new IllegalStateException("no free port");
  }

  static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException taken) {
      return false;
    }
  }

  /** The command lines of the processes with this mark that run. */
  private static List<String> running(String mark) {
    return ProcessHandle.allProcesses()
        .filter(process -> hasMark(process.pid(), mark))
        .map(process -> process.pid() + " " + process.info().commandLine().orElse("?"))
        .toList();
  }

  /** The same, of those that have not exited after a while. */
  static List<String> left(String mark) {
    long end = System.nanoTime() + AMPLE.toNanos();
    List<String> running = running(mark);
    while (!running.isEmpty() && System.nanoTime() < end) {
      LockSupport.parkNanos(100_000_000);
      running = running(mark);
    }
    return running;
  }

  static void kill(String mark) {
    ProcessHandle.allProcesses()
        .filter(process -> hasMark(process.pid(), mark))
        .forEach(ProcessHandle::destroyForcibly);
  }

  private static boolean hasMark(long pid, String mark) {
    try {
      // Empty for a zombie: it has ended, and its parent has not read its exit code yet.
      return ("\0"
              + new String(
                  Files.readAllBytes(Path.of("/proc", "" + pid, "environ")),
                  StandardCharsets.ISO_8859_1))
          .contains("\0" + MARK + "=" + mark + "\0");
    } catch (IOException goneOrNotOurs) {
      return false;
    }
  }
}
