package dev.holdfast.simulation.queue;

/** What carries out verbs: the model, or PostgreSQL. */
@FunctionalInterface
public interface Interpreter {
  Object answer(Verb<?> verb);

  @SuppressWarnings({
    "unchecked",
    "TypeParameterUnusedInFormals"
  }) // The verb says what its answer is.
  default <A> A call(Verb<A> verb) {
    return (A) answer(verb);
  }
}
