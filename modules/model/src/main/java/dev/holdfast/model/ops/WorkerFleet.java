package dev.holdfast.model.ops;

import dev.holdfast.model.command.AcceptedWorkerCommand;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Spelling;
import dev.holdfast.model.value.Text;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * All workers: supervised processes, and others that hold leases or ask a server for jobs.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 *
 * @param now by the database's clock
 */
public record WorkerFleet(
    List<WorkerHealth> processes,
    List<SupervisorHealth> supervisors,
    List<Holder> holders,
    List<Poller> pollers,
    Instant now) {
  private static final String PREFIX = "worker:";

  public WorkerFleet {
    processes = List.copyOf(processes);
    supervisors = List.copyOf(supervisors);
    holders = List.copyOf(holders);
    pollers = List.copyOf(pollers);
  }

  public WorkerFleet(
      List<WorkerHealth> processes,
      List<SupervisorHealth> supervisors,
      List<Holder> holders,
      Instant now) {
    this(processes, supervisors, holders, List.of(), now);
  }

  /** Only workers without supervisors. */
  public static WorkerFleet of(List<Holder> holders, List<Poller> pollers, Instant now) {
    return new WorkerFleet(List.of(), List.of(), holders, pollers, now);
  }

  /** The part of a worker's name before the @; the part after it names machine and process. */
  public static String component(String worker) {
    int at = worker.indexOf('@');
    String place = at < 0 ? worker : worker.substring(0, at);
    return place.startsWith(PREFIX) ? place : PREFIX + place;
  }

  /** The leases of each process; processes without leases are missing. */
  public Map<WorkerHealth, Holder> held() {
    Map<String, WorkerHealth> named = named();
    Map<WorkerHealth, Holder> held = new HashMap<>();
    for (Holder holder : holders) {
      WorkerHealth process = named.get(prefix(holder.worker()));
      if (process != null) {
        held.put(process, holder);
      }
    }
    return held;
  }

  private static String prefix(String worker) {
    return worker.substring(0, worker.lastIndexOf('.') + 1);
  }

  /** The processes by the first part of their workers' names. */
  private Map<String, WorkerHealth> named() {
    Map<String, String> hosts =
        supervisors.stream().collect(Collectors.toMap(SupervisorHealth::name, s -> s.host()));
    Map<String, WorkerHealth> named = new HashMap<>();
    for (WorkerHealth process : processes) {
      String host = hosts.get(process.supervisor());
      if (host != null && process.pid() != null) {
        named.put(WorkerHealth.namePrefix(process.component(), host, process.pid()), process);
      }
    }
    return named;
  }

  /** Those that ask for jobs, hold none, and are no processes of supervisors. */
  public List<Poller> idle() {
    Set<String> holding = holders.stream().map(Holder::worker).collect(Collectors.toSet());
    Map<String, WorkerHealth> named = named();
    return pollers.stream()
        .filter(poller -> !holding.contains(poller.worker()))
        .filter(poller -> !named.containsKey(prefix(poller.worker())))
        .toList();
  }

  public List<WorkerView> all() {
    Map<WorkerHealth, Holder> held = held();
    List<WorkerView> all = new ArrayList<>();
    processes.forEach(process -> all.add(WorkerView.of(process, held.get(process))));
    Map<String, Poller> asking =
        pollers.stream()
            .collect(Collectors.toMap(Poller::worker, poller -> poller, (one, other) -> one));
    alone(held).forEach(holder -> all.add(WorkerView.of(holder, asking.get(holder.worker()), now)));
    idle().forEach(poller -> all.add(WorkerView.of(poller)));
    return all;
  }

  /** Workers without a supervisor. */
  public List<Holder> alone(Map<WorkerHealth, Holder> held) {
    return holders.stream().filter(holder -> !held.containsValue(holder)).toList();
  }

  /** Supervisors that have processes and have stopped reporting. */
  public Set<String> silentSupervisors() {
    Set<String> reporting =
        supervisors.stream()
            .filter(supervisor -> !supervisor.isSilent())
            .map(SupervisorHealth::name)
            .collect(Collectors.toSet());
    return processes.stream()
        .map(WorkerHealth::supervisor)
        .filter(name -> !reporting.contains(name))
        .collect(Collectors.toSet());
  }

  /** The rows that a command is for, or why there are none. */
  public record Targets(List<WorkerHealth> rows, @Nullable AcceptedWorkerCommand refusal) {}

  public Targets targets(WorkerCommand.Draft draft) {
    List<WorkerHealth> wanted =
        processes.stream()
            .filter(row -> row.component().equals(draft.component()))
            .filter(
                row -> draft.supervisor() == null || row.supervisor().equals(draft.supervisor()))
            .toList();
    if (wanted.isEmpty()) {
      return new Targets(List.of(), new AcceptedWorkerCommand.Unknown(unknown(draft)));
    }
    Set<String> silent = silentSupervisors();
    List<WorkerHealth> reporting =
        wanted.stream().filter(row -> !silent.contains(row.supervisor())).toList();
    if (reporting.isEmpty()) {
      return new Targets(
          List.of(),
          new AcceptedWorkerCommand.Refused(
              "supervisor_silent",
              "no live supervisor would execute it: '%s' has stopped reporting; start it with 'holdfast supervise'"
                  .formatted(wanted.getFirst().supervisor())));
    }
    List<WorkerHealth> accepted =
        reporting.stream().filter(row -> refusal(row, draft.action()) == null).toList();
    return accepted.isEmpty()
        ? new Targets(List.of(), refusal(reporting.getFirst(), draft.action()))
        : new Targets(accepted, null);
  }

  private static AcceptedWorkerCommand.@Nullable Refused refusal(
      WorkerHealth row, WorkerCommand.Action action) {
    if (action != WorkerCommand.Action.PAUSE) {
      return null;
    }
    if (row.isStopped()) {
      return new AcceptedWorkerCommand.Refused(
          "worker_stopped", row.component() + " is stopped and claims no jobs: resume starts it");
    }
    return row.status() == HealthStatus.FAILED
        ? new AcceptedWorkerCommand.Refused(
            "worker_failed",
            row.component() + " has failed and claims no jobs: see its log, then resume starts it")
        : null;
  }

  private String unknown(WorkerCommand.Draft draft) {
    String component = Text.excerpt(draft.component(), Limits.NAME_CHARS);
    List<WorkerHealth> elsewhere =
        processes.stream().filter(row -> row.component().equals(draft.component())).toList();
    if (!elsewhere.isEmpty()) {
      return "supervisor '%s' has no %s: those that have are %s"
          .formatted(
              Text.excerpt(String.valueOf(draft.supervisor()), Limits.NAME_CHARS),
              component,
              elsewhere.stream().map(WorkerHealth::supervisor).collect(Collectors.joining(", ")));
    }
    if (holders.stream().anyMatch(each -> component(each.worker()).equals(draft.component()))) {
      return "%s has no supervisor: it takes no commands; pause its queue, or end its process with SIGTERM"
          .formatted(component);
    }
    return "there is no worker %s under a supervisor%s"
        .formatted(component, nearest(component).map(near -> ": is it " + near + "?").orElse(""));
  }

  private Optional<String> nearest(String component) {
    return Spelling.nearest(component, processes.stream().map(WorkerHealth::component).toList());
  }
}
