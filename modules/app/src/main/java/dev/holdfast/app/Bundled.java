package dev.holdfast.app;

import dev.holdfast.worker.Kind;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Kinds that come with the program, for those who want them. */
enum Bundled {
  EXAMPLES,
  DEMO;

  List<Kind<?>> kinds() {
    return switch (this) {
      case EXAMPLES -> ExampleKinds.all();
      case DEMO -> DemoKinds.all();
    };
  }

  /** How one process tells another. */
  String option() {
    return "--" + name().toLowerCase(Locale.ROOT);
  }

  static List<Bundled> named(List<String> options) {
    return Stream.of(values()).filter(one -> options.contains(one.option())).toList();
  }
}
