package dev.holdfast.app.demo;

import dev.holdfast.worker.handler.Kind;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Kinds that come with the program, for those who want them. */
public enum BundledKinds {
  EXAMPLES,
  DEMO;

  public List<Kind<?>> kinds() {
    return switch (this) {
      case EXAMPLES -> ExampleKinds.all();
      case DEMO -> DemoKinds.all();
    };
  }

  /** How one process signals another. */
  public String option() {
    return "--" + name().toLowerCase(Locale.ROOT);
  }

  public static List<BundledKinds> named(List<String> options) {
    return Stream.of(values()).filter(one -> options.contains(one.option())).toList();
  }
}
