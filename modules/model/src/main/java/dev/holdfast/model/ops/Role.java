package dev.holdfast.model.ops;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What an API key is for. */
public enum Role {
  /** Sees. */
  VIEWER,
  /** Reads, and enqueues jobs. */
  SUBMITTER,
  /** Leases and settles tasks. */
  WORKER,
  /** Reads, enqueues, and changes jobs, queues and schedules. */
  OPERATOR,
  /** Everything, keys included. */
  ADMIN;

  /** What a route asks for. */
  public enum Permission {
    READ,
    SUBMIT,
    WORK,
    OPERATE,
    ADMINISTER
  }

  public boolean may(Permission permission) {
    return switch (permission) {
      case READ -> this != WORKER;
      case SUBMIT -> this == SUBMITTER || this == OPERATOR || this == ADMIN;
      case WORK -> this == WORKER || this == ADMIN;
      case OPERATE -> this == OPERATOR || this == ADMIN;
      case ADMINISTER -> this == ADMIN;
    };
  }

  /** As it is written. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Role of(String word) {
    return Arrays.stream(values())
        .filter(role -> role.word().equals(word))
        .findFirst()
        .orElseThrow(
            () ->
                new RefusedException(
                    Refusal.BAD_NAME,
                    "role '%s' is unknown: choose %s"
                        .formatted(
                            Text.excerpt(word, 40),
                            Arrays.stream(values())
                                .map(Role::word)
                                .collect(Collectors.joining(", ")))));
  }
}
