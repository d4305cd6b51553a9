package dev.holdfast.sdk;

import dev.holdfast.testkit.Extent;
import dev.holdfast.testkit.OnlyWithAll;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The Go library: its tests, format and vet; before a release also races and staticcheck. */
@OnlyWithAll
class GoTest {
  @Test
  void the_go_library_passes_its_tests() {
    List<String> arguments = Extent.isRelease() ? List.of() : List.of("--quick");
    new SdkScript(SdkServer.shared(), "sdk/go/test", arguments).run();
  }
}
