package dev.holdfast;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Cannot be so where something stands between worker and database; the value says why. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(OnlyDirect.Condition.class)
public @interface OnlyDirect {
  String value();

  /** Decides it. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return Between.found().isEmpty()
          ? ConditionEvaluationResult.enabled("the worker has the database")
          : ConditionEvaluationResult.disabled("the worker has no database");
    }
  }
}
