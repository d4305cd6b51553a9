package dev.holdfast.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.worker.Worker;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A worker in a process of its own, which ends with its standard input. */
final class Child implements AutoCloseable {
  static final String NAME = "child";

  private final Process process;

  private Child(Process process) {
    this.process = process;
  }

  /** With so many places, running jobs that take so long. */
  static Child start(Target target, int concurrency, int millis, String... jvm) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(jvm));
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            Bench.class.getName(),
            NAME,
            target.url(),
            target.user(),
            Integer.toString(concurrency),
            Integer.toString(millis)));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().put("PGPASSWORD", target.password());
    Process process = builder.start();
    // It says so when it is ready.
    if (process.getInputStream().read() < 0) {
      throw new IOException("the worker process did not start: " + new File(".").getAbsolutePath());
    }
    return new Child(process);
  }

  static void work(String[] arguments) {
    int concurrency = Integer.parseInt(arguments[3]);
    int millis = Integer.parseInt(arguments[4]);
    Target target = new Target(arguments[1], arguments[2], System.getenv("PGPASSWORD"));
    try (HikariDataSource pool = target.pool(6);
        Holdfast holdfast = Holdfast.on(pool);
        Worker worker =
            holdfast
                .worker(Job.DEFAULT_QUEUE)
                .concurrency(concurrency)
                .handle(
                    "noop",
                    HoldfastContender.Numbered.class,
                    (number, context) -> {
                      if (millis > 0) {
                        Thread.sleep(millis);
                      }
                      return null;
                    })
                .start()) {
      System.out.println("ready: " + worker.name());
      int read;
      do {
        read = System.in.read();
      } while (read >= 0);
    } catch (IOException e) {
      System.err.println(e);
    }
    System.exit(0);
  }

  /** Resident memory in megabytes. */
  double residentMegabytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc", "" + process.pid(), "status"))) {
      if (line.startsWith("VmRSS:")) {
        return Double.parseDouble(line.replaceAll("[^0-9]", "")) / 1_000;
      }
    }
    return 0;
  }

  @Override
  public void close() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // It has ended already.
    }
    process.onExit().join();
  }
}
