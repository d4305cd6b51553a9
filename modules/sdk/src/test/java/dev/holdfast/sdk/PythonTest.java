package dev.holdfast.sdk;

import dev.holdfast.testkit.Extent;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The Python library: its tests against the wheel as installed, and format, lint and types. */
class PythonTest {
  @Test
  void the_python_library_passes_its_tests() {
    List<String> arguments = Extent.isRelease() ? List.of() : List.of("--quick");
    new SdkScript(SdkServer.shared(), "sdk/python/test", arguments).run();
  }
}
