package dev.holdfast.worker.steps;

import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.value.Json;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What the loop needs of a step: how to try it, how to save it, and how to reset it. */
public interface Step<T extends @Nullable Object> {
  String id();

  /** From 1. */
  int index();

  /** How often it was begun before, on whatever worker. */
  int begun();

  /** Whether the other one is an earlier step of the same job. */
  boolean comesAfter(String other);

  /** Whether an attempt needs nothing made ready for it. */
  default boolean isPrepared() {
    return true;
  }

  /**
   * Makes ready what an attempt needs. Runs on a thread of its own, as an attempt does, but is
   * none: when it fails in a way that may pass, no attempt is used.
   */
  default void prepare() throws Exception {}

  /** Runs on a thread of its own, which is interrupted when it should stop. */
  T attempt(Retry retry) throws Exception;

  /** What an operator has made of it, in place of an attempt. Runs where an attempt would. */
  default T accept(PendingCommand.Recovery by) throws Exception {
    throw new StepException(
        FailureClass.DETERMINISTIC_CONTRACT,
        "step '%s' has no workspace, so it cannot be done by hand".formatted(id()));
  }

  /** Keeps what the step has made, for the steps after it. */
  Saved save(T result, int attempt);

  /** What a failed attempt left in the workspace; nothing where there is none. */
  default Left left() {
    return new Left(null, List.of());
  }

  /** When the attempt under way last changed a file; nothing where that is unknown. */
  default Optional<Instant> lastChange() {
    return Optional.empty();
  }

  /** Whether an attempt has left nothing in which it could be tried again. */
  default boolean isWorkspaceLost() {
    return false;
  }

  /** Told that an operator now works where the attempts did. */
  default void handedOver() {}

  /** How the last attempt failed, when that was before this worker had the job. */
  default @Nullable Failed before() {
    return null;
  }

  /** What is in the workspace now, to be compared later; empty where there is none. */
  default Optional<String> snapshot() {
    return Optional.empty();
  }

  /** The files that have been changed since. */
  default List<String> changedSince(String snapshot) {
    return List.of();
  }

  /** Told of a failed attempt, before anything is done about it. */
  default void failed(FailedAttempt failure, String summary, Strategy next) {}

  /** Where an operator who takes the job over finds it. */
  default Optional<Path> place() {
    return Optional.empty();
  }

  /** Puts everything back to where the step began. */
  void hardReset() throws InterruptedException;

  /** What a finished step has made. */
  record Saved(Json checkpoint, @Nullable Patch patch, Left left) {}

  /** Changes in the workspace. */
  record Left(@Nullable String diffHash, List<String> changedFiles) {}

  /**
   * Why it is tried again.
   *
   * @param attempt which one begins now
   * @param last null when none has failed in this workspace
   */
  record Retry(int attempt, @Nullable Failed last, Operators operators) {}

  /**
   * What operators have said and done about it.
   *
   * @param requests oldest first
   * @param changedFiles during takeovers
   */
  record Operators(List<Request> requests, List<String> changedFiles) {
    public static final Operators NONE = new Operators(List.of(), List.of());

    Operators asking(List<Request> more) {
      return new Operators(Stream.concat(requests.stream(), more.stream()).toList(), changedFiles);
    }

    Operators changing(List<String> more) {
      return new Operators(
          requests, Stream.concat(changedFiles.stream(), more.stream()).distinct().toList());
    }

    /** What they did in a workspace goes with it; what they said stays true. */
    Operators inNewWorkspace() {
      return new Operators(requests, List.of());
    }
  }

  /** What an operator asked, and why. */
  record Request(CommandAction action, String requestedBy, String reason) {}

  /** A failed attempt, with what the next one should know of it. */
  record Failed(FailedAttempt attempt, String summary, List<String> changedFiles, Strategy next) {}
}
