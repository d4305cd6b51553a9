package dev.holdfast.sdk;

import dev.holdfast.testkit.Extent;
import dev.holdfast.testkit.OnlyWithAll;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The TypeScript library: its tests against the package as installed, and format and lint. */
@OnlyWithAll
class TypeScriptTest {
  @Test
  void the_typescript_library_passes_its_tests() {
    List<String> arguments = Extent.isRelease() ? List.of() : List.of("--quick");
    new SdkScript(SdkServer.shared(), "sdk/typescript/test", arguments).run();
  }
}
