package dev.holdfast.simulation.scenario;

import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.kernel.SimulatedProcess;
import dev.holdfast.simulation.queue.Interpreter;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.simulation.queue.VerbText;
import dev.holdfast.simulation.trace.Call;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What happened in a run, and the first rule that was broken. */
final class Observer {
  private final Scheduler scheduler;
  private final boolean recording;
  private final List<String> lines = new ArrayList<>();
  private final List<Call> calls = new ArrayList<>();
  private final Map<String, Integer> counts = new TreeMap<>();
  private @Nullable String violation;

  /**
   * @param recording whether lines and calls are kept; without it a run is faster
   */
  Observer(Scheduler scheduler, boolean recording) {
    this.scheduler = scheduler;
    this.recording = recording;
  }

  @SuppressWarnings("AnnotateFormatMethod")
  void note(String format, Object... values) {
    if (recording) {
      lines.add(
          "%10.3f s  %-8s %s".formatted(scheduler.now() / 1e9, caller(), format.formatted(values)));
    }
  }

  /** The model, whose calls are observed. */
  Interpreter observed(Interpreter model) {
    return verb -> {
      Object answer = model.answer(verb);
      count(verb.name());
      if (recording) {
        Call call = VerbText.call(scheduler.now() / 1_000, caller(), verb, answer);
        calls.add(call);
        if (!isVainPoll(verb, call.answer())) {
          lines.add(call.toString());
        }
      }
      return answer;
    };
  }

  private static boolean isVainPoll(Verb<?> verb, String answer) {
    return switch (verb) {
      case Verb.Claim poll -> answer.isEmpty();
      case Verb.Commands poll -> answer.isEmpty();
      case Verb.HeldBy poll -> answer.isEmpty();
      case Verb.Promote poll -> true;
      case Verb.ReapAndExpire poll -> answer.equals("{ended=0, stale=0, timeout=0}");
      default -> false;
    };
  }

  private static String caller() {
    return SimulatedProcess.currentName();
  }

  void count(String what) {
    counts.merge(what, 1, Integer::sum);
  }

  @SuppressWarnings("AnnotateFormatMethod")
  void violated(String format, @Nullable Object... values) {
    if (violation == null) {
      violation = "%.3f s: %s".formatted(scheduler.now() / 1e9, format.formatted(values));
      lines.add("VIOLATION " + violation);
    }
  }

  boolean isViolated() {
    return violation != null;
  }

  @Nullable String violation() {
    return violation;
  }

  List<String> lines() {
    return lines;
  }

  List<Call> calls() {
    return calls;
  }

  Map<String, Integer> counts() {
    return counts;
  }
}
