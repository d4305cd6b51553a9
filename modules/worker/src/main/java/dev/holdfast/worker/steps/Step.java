package dev.holdfast.worker.steps;

import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.value.Json;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What the loop needs of a step: how to try it, and how to save it. */
public interface Step<T extends @Nullable Object> {
  String id();

  /** From 1. */
  int index();

  /** How often it was begun before, on whatever worker. */
  int attemptsBefore();

  /** Whether the other one is an earlier step of the same job. */
  boolean comesAfter(String other);

  /** Runs on a thread of its own, which is interrupted when it should stop. */
  T attempt(Retry retry) throws Exception;

  /** Keeps what the step has made, for the steps after it. */
  Saved save(T result, int attempt);

  /** Empty if it leaves nothing but its result. */
  default Optional<StepWorkspace<T>> workspace() {
    return Optional.empty();
  }

  /**
   * What a finished step has made.
   *
   * @param checkpoint null for a step that has no result
   */
  record Saved(@Nullable Json checkpoint, @Nullable Patch patch, Left left) {}

  /** Changes in the workspace. */
  record Left(@Nullable String diffHash, List<String> changedFiles) {
    public static final Left NOTHING = new Left(null, List.of());
  }

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
