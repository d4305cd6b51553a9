package dev.holdfast.chaos.check;

import java.util.List;

/**
 * What one check came to.
 *
 * @param rule what must hold
 * @param looked at how many
 * @param violations where it did not hold; the first few
 */
public record Finding(String rule, long looked, List<String> violations) {
  private static final int SHOWN = 20;

  public Finding {
    violations = List.copyOf(violations.subList(0, Math.min(SHOWN, violations.size())));
  }

  public boolean holds() {
    return violations.isEmpty();
  }
}
