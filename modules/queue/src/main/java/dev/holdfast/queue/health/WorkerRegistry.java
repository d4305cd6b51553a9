package dev.holdfast.queue.health;

import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.notify.QueueNotifier;

/** Worker processes, their supervisors, and the commands between operators and both. */
public final class WorkerRegistry {
  private final WorkerProcesses processes;
  private final Supervisors supervisors;
  private final WorkerReadings readings;
  private final WorkerCommands commands;
  private final ProcessRecovery recovery;
  private final WorkerExits exits;
  private final WorkerLogs logs;
  private final WorkerPolls polls;
  private final ServerFigures servers;

  public WorkerRegistry(Database database, QueueNotifier notifier) {
    this.processes = new WorkerProcesses(database);
    this.supervisors = new Supervisors(database, processes);
    this.polls = new WorkerPolls(database);
    this.readings = new WorkerReadings(database, supervisors, polls);
    this.commands = new WorkerCommands(database, readings);
    this.recovery = new ProcessRecovery(database, notifier);
    this.exits = new WorkerExits(database);
    this.logs = new WorkerLogs(database);
    this.servers = new ServerFigures(database);
  }

  /** The rows that processes and their supervisors write. */
  public WorkerProcesses processes() {
    return processes;
  }

  /** The supervisors and the names they hold. */
  public Supervisors supervisors() {
    return supervisors;
  }

  /** What is known of the processes. */
  public WorkerReadings readings() {
    return readings;
  }

  /** What operators ask of the processes. */
  public WorkerCommands commands() {
    return commands;
  }

  /** Takes back the jobs of dead processes. */
  public ProcessRecovery recovery() {
    return recovery;
  }

  /** How the processes ended. */
  public WorkerExits exits() {
    return exits;
  }

  /** Which workers ask servers for jobs. */
  public WorkerPolls polls() {
    return polls;
  }

  /** What servers count. */
  public ServerFigures servers() {
    return servers;
  }

  /** What the processes printed last. */
  public WorkerLogs logs() {
    return logs;
  }
}
