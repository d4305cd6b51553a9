package dev.holdfast.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A {@link HoldServer} process. */
final class Child implements AutoCloseable {
  private final Process process;
  private final BufferedReader output;

  private Child(Process process) {
    this.process = process;
    this.output = process.inputReader();
  }

  static Child start(Path folder) throws IOException {
    return start(List.of(), System.getProperty("java.class.path"), folder);
  }

  static Child start(List<String> prefix, String classPath, Path folder) throws IOException {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-cp", classPath));
    command.add(HoldServer.class.getName());
    command.addAll(List.of(folder.toString(), Servers.CACHE.toString()));
    return new Child(new ProcessBuilder(command).redirectErrorStream(true).start());
  }

  long pid() {
    return process.pid();
  }

  String line() throws IOException {
    return output.readLine();
  }

  /** The process id of its server. */
  long awaitReady() throws IOException {
    String line = line();
    assertThat(line).startsWith("ready ");
    return Long.parseLong(line.substring("ready ".length()));
  }

  void kill() {
    Servers.kill(process.pid());
  }

  void terminate() throws InterruptedException {
    process.destroy();
    awaitEnd();
  }

  void endInput() throws IOException, InterruptedException {
    process.getOutputStream().close();
    awaitEnd();
  }

  private void awaitEnd() throws InterruptedException {
    assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
