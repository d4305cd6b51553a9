package dev.holdfast.queue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The names of the public methods of {@link JobQueue}, to compare the tables of verbs with. */
public final class JobQueueMethods {
  private static final Set<String> READING =
      Set.of("commands", "delivery", "heldBy", "mayHaveHandler", "succeeded", "workerNames");

  /** It writes about workers. */
  private static final Set<String> OF_NO_JOB = Set.of("announce");

  private JobQueueMethods() {}

  /** Those that write jobs. A new one is among them unless it is listed above. */
  public static Set<String> writing() {
    Set<String> names =
        Arrays.stream(JobQueue.class.getDeclaredMethods())
            .filter(method -> Modifier.isPublic(method.getModifiers()))
            .filter(method -> !method.isSynthetic())
            .map(Method::getName)
            .collect(Collectors.toCollection(TreeSet::new));
    if (!names.containsAll(READING) || !names.containsAll(OF_NO_JOB)) {
      throw new AssertionError("JobQueue has lost methods: " + names);
    }
    names.removeAll(READING);
    names.removeAll(OF_NO_JOB);
    return names;
  }
}
