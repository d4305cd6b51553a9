package dev.holdfast.sdk;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The Python library: format, lint, types, and its tests against the wheel as installed. */
@EnabledIfSystemProperty(named = FullForm.PROPERTY, matches = FullForm.ANY)
class PythonTest {
  @Test
  void the_python_library_passes_its_tests() {
    List<String> arguments = FullForm.isWanted() ? List.of() : List.of("--quick");
    new SdkScript(SdkServer.shared(), "sdk/python/test", arguments).run();
  }
}
