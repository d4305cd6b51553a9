package dev.holdfast.chaos.fleet;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.program.Launch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A process that is started again when it ends, as a service manager would. */
public final class Member {
  /** What it does. */
  public enum Role {
    /** Starts and watches worker processes. */
    SUPERVISOR,
    SERVER,
    /** A worker that reaches its jobs through a server. */
    REMOTE,
    /** A worker of its own on the database. */
    WORKER
  }

  private final String name;
  private final Role role;
  private final Supplier<Launch> launch;
  private @Nullable ChildProcess process;
  private int starts;

  Member(String name, Role role, Supplier<Launch> launch) {
    this.name = name;
    this.role = role;
    this.launch = launch;
  }

  public String name() {
    return name;
  }

  public Role role() {
    return role;
  }

  public synchronized boolean isAlive() {
    return process != null && process.isAlive();
  }

  /** Does nothing while its process lives. */
  synchronized void start() {
    if (!isAlive()) {
      process = launch.get().begin();
      starts++;
    }
  }

  public synchronized int starts() {
    return starts;
  }

  /** The process that runs now; 0 when none does. */
  public synchronized long pid() {
    return process != null && process.isAlive() ? process.pid() : 0;
  }

  synchronized @Nullable ChildProcess process() {
    return process;
  }
}
