package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.Finding;
import java.util.List;

/** Looks for one kind of problem. */
interface Rule {
  List<Finding> check(Situation situation);
}
