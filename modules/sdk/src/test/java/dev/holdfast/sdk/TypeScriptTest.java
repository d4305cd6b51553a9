package dev.holdfast.sdk;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The TypeScript library: format, lint, types, and its tests against the package as installed. */
@EnabledIfSystemProperty(named = FullForm.PROPERTY, matches = FullForm.ANY)
class TypeScriptTest {
  @Test
  void the_typescript_library_passes_its_tests() {
    if (FullForm.isWanted()) {
      new SdkScript(SdkServer.embedded(), "sdk/typescript/test", List.of()).run();
    } else {
      new SdkScript(SdkServer.shared(), "sdk/typescript/test", List.of("--quick")).run();
    }
  }
}
