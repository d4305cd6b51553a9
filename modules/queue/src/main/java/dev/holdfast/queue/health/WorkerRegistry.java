package dev.holdfast.queue.health;

import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.notify.QueueNotifier;
import dev.holdfast.queue.wait.EndedJobs;

/**
 * Worker processes, their supervisors, and the commands between operators and both.
 *
 * @param processes the rows that processes and their supervisors write
 * @param supervisors and the names they hold
 * @param readings what is known of the processes
 * @param commands what operators ask of the processes
 * @param recovery takes back the jobs of dead processes
 * @param exits how the processes ended
 * @param logs what the processes printed last
 * @param polls which workers ask servers for jobs
 * @param servers what servers count
 */
public record WorkerRegistry(
    WorkerProcesses processes,
    Supervisors supervisors,
    WorkerReadings readings,
    WorkerCommands commands,
    ProcessRecovery recovery,
    WorkerExits exits,
    WorkerLogs logs,
    WorkerPolls polls,
    ServerFigures servers) {
  public static WorkerRegistry on(Database database, QueueNotifier notifier, EndedJobs endedJobs) {
    WorkerProcesses processes = new WorkerProcesses(database);
    Supervisors supervisors = new Supervisors(database, processes);
    WorkerPolls polls = new WorkerPolls(database);
    WorkerReadings readings = new WorkerReadings(database, supervisors, polls);
    return new WorkerRegistry(
        processes,
        supervisors,
        readings,
        new WorkerCommands(database, readings),
        new ProcessRecovery(new MaterializedJobs(database), notifier, endedJobs),
        new WorkerExits(database),
        new WorkerLogs(database),
        polls,
        new ServerFigures(database));
  }
}
