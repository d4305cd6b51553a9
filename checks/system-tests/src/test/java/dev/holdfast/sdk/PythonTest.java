package dev.holdfast.sdk;

import dev.holdfast.testkit.Extent;
import dev.holdfast.testkit.OnlyWithAll;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The Python library: its tests against the wheel as installed, and format, lint and types. */
@OnlyWithAll
class PythonTest {
  @Test
  void the_python_library_passes_its_tests() {
    List<String> arguments = Extent.isRelease() ? List.of() : List.of("--quick");
    new SdkScript(SdkServer.shared(), "sdk/python/test", arguments).run();
  }
}
