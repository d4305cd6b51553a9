package dev.holdfast.model;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * All workers: the processes that supervisors look after, and whoever holds leases.
 *
 * @param now by the database's clock
 */
public record Crew(List<WorkerHealth> processes, List<Holder> holders, Instant now) {
  private static final String PREFIX = "worker:";

  public Crew {
    processes = List.copyOf(processes);
    holders = List.copyOf(holders);
  }

  /** A worker's name is its place, and after an @ which process of which machine is in it. */
  public static String component(String worker) {
    int at = worker.indexOf('@');
    String place = at < 0 ? worker : worker.substring(0, at);
    return place.startsWith(PREFIX) ? place : PREFIX + place;
  }

  /** What each process holds; those that hold nothing are not in it. */
  public Map<WorkerHealth, Holder> held() {
    Map<String, List<WorkerHealth>> places =
        processes.stream().collect(Collectors.groupingBy(WorkerHealth::component));
    Map<WorkerHealth, Holder> held = new HashMap<>();
    for (Holder holder : holders) {
      processOf(holder.worker(), places).ifPresent(process -> held.put(process, holder));
    }
    return held;
  }

  /** The name goes on after the @ with host, process id, and what tells one start from another. */
  private static Optional<WorkerHealth> processOf(
      String worker, Map<String, List<WorkerHealth>> places) {
    int end = worker.lastIndexOf('.');
    int start = end < 0 ? -1 : worker.lastIndexOf('.', end - 1);
    int at = worker.indexOf('@');
    if (at < 0 || start < at) {
      return Optional.empty();
    }
    String host = worker.substring(at + 1, start);
    String pid = worker.substring(start + 1, end);
    return places.getOrDefault(worker.substring(0, at), List.of()).stream()
        .filter(process -> pid.equals(String.valueOf(process.pid())))
        // Two machines may have processes of the same number.
        .min(Comparator.comparing(process -> !process.supervisor().contains(host)));
  }

  public List<WorkerView> all() {
    Map<WorkerHealth, Holder> held = held();
    List<WorkerView> all = new ArrayList<>();
    processes.forEach(process -> all.add(WorkerView.of(process, held.get(process))));
    alone(held).forEach(holder -> all.add(WorkerView.of(holder, now)));
    return all;
  }

  /** Those that nobody looks after. */
  public List<Holder> alone(Map<WorkerHealth, Holder> held) {
    return holders.stream().filter(holder -> !held.containsValue(holder)).toList();
  }

  /**
   * Supervisors of which nothing is heard: a process of theirs is silent or waits to be started
   * again, and none of them speaks. Of one that has nothing to do nobody can tell.
   */
  public Set<String> silentSupervisors() {
    Set<String> heard =
        processes.stream()
            .filter(WorkerHealth::isHeard)
            .map(WorkerHealth::supervisor)
            .collect(Collectors.toSet());
    return processes.stream()
        .filter(process -> process.isGivenUp() && !heard.contains(process.supervisor()))
        .map(WorkerHealth::supervisor)
        .collect(Collectors.toSet());
  }

  /** Which rows a command is for, or why there are none. */
  public record Judged(List<WorkerHealth> rows, @Nullable Ordered against) {}

  public Judged judge(WorkerCommand command) {
    List<WorkerHealth> wanted =
        processes.stream()
            .filter(row -> row.component().equals(command.component()))
            .filter(
                row ->
                    command.supervisor() == null || row.supervisor().equals(command.supervisor()))
            .toList();
    if (wanted.isEmpty()) {
      return new Judged(List.of(), new Ordered.Unknown(unknown(command)));
    }
    Set<String> silent = silentSupervisors();
    List<WorkerHealth> heard =
        wanted.stream().filter(row -> !silent.contains(row.supervisor())).toList();
    if (heard.isEmpty()) {
      return new Judged(
          List.of(),
          new Ordered.Refused(
              "supervisor_silent",
              "nobody would do it: supervisor '%s' has not been heard of since %s; start it again with 'holdfast supervise'"
                  .formatted(wanted.getFirst().supervisor(), wanted.getFirst().lastSeenText())));
    }
    List<WorkerHealth> sensible =
        heard.stream().filter(row -> against(row, command.action()) == null).toList();
    return sensible.isEmpty()
        ? new Judged(List.of(), against(heard.getFirst(), command.action()))
        : new Judged(sensible, null);
  }

  private static Ordered.@Nullable Refused against(WorkerHealth row, WorkerOrder.Action action) {
    boolean needsProcess =
        action == WorkerOrder.Action.PAUSE || action == WorkerOrder.Action.RESTART;
    if (needsProcess && row.isStopped()) {
      return new Ordered.Refused(
          "worker_stopped", row.component() + " is stopped and takes no jobs: resume starts it");
    }
    if (needsProcess && row.status() == HealthStatus.FAILED) {
      return new Ordered.Refused(
          "worker_failed",
          row.component() + " has failed and takes no jobs: see its log, then resume starts it");
    }
    return null;
  }

  private String unknown(WorkerCommand command) {
    String component = Text.excerpt(command.component(), Limits.NAME_CHARS);
    List<WorkerHealth> elsewhere =
        processes.stream().filter(row -> row.component().equals(command.component())).toList();
    if (!elsewhere.isEmpty()) {
      return "supervisor '%s' has no %s: those that have are %s"
          .formatted(
              Text.excerpt(String.valueOf(command.supervisor()), Limits.NAME_CHARS),
              component,
              elsewhere.stream().map(WorkerHealth::supervisor).collect(Collectors.joining(", ")));
    }
    if (holders.stream().anyMatch(each -> component(each.worker()).equals(command.component()))) {
      return "%s has no supervisor: it takes no orders; pause its queue, or end its process with SIGTERM"
          .formatted(component);
    }
    return "there is no worker %s under a supervisor%s"
        .formatted(component, nearest(component).map(near -> ": is it " + near + "?").orElse(""));
  }

  private Optional<String> nearest(String component) {
    return processes.stream()
        .map(WorkerHealth::component)
        .min(Comparator.comparingInt(each -> Spelling.distance(component, each)))
        .filter(each -> Spelling.distance(component, each) <= component.length() / 3);
  }
}
