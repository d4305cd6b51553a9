package dev.holdfast.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

class ArchiveTest {

  private static final int FILES = 300;

  @Test
  void concurrent_unpacks_share_one_complete_folder(
      @TempDir(factory = OpenFolder.class) Path folder) throws Exception {
    Archive archive = archive(folder);
    Path cache = folder.resolve("cache");
    Callable<Path> unpack = () -> archive.unpackedIn(cache);
    try (ExecutorService executor = Executors.newFixedThreadPool(2)) {
      List<Future<Path>> both = executor.invokeAll(List.of(unpack, unpack));
      assertThat(both.get(0).get()).isEqualTo(both.get(1).get());
    }
    try (Stream<Path> entries = Files.list(cache)) {
      assertThat(entries.map(entry -> entry.getFileName().toString()))
          .hasSize(2)
          .contains(".unpack.lock")
          .anyMatch(name -> name.startsWith("bin-"));
    }
    for (int i = 0; i < FILES; i++) {
      assertThat(archive.unpackedIn(cache).resolve("bin/" + i)).hasContent("program " + i);
    }
  }

  /** A small one: the real one takes seconds. */
  private static Archive archive(Path folder) throws Exception {
    Path bin = Files.createDirectories(folder.resolve("packed/bin"));
    for (int i = 0; i < FILES; i++) {
      Files.writeString(bin.resolve(Integer.toString(i)), "program " + i);
    }
    Path tar = folder.resolve("small.tar");
    Process made =
        new ProcessBuilder(
                "tar",
                "-cf",
                tar.toString(),
                "-C",
                bin.getParent().toString(),
                "--format=ustar",
                "bin")
            .inheritIO()
            .start();
    assertThat(made.waitFor()).isZero();
    Path txz = folder.resolve("small.txz");
    try (OutputStream out = new XZOutputStream(Files.newOutputStream(txz), new LZMA2Options(0))) {
      Files.copy(tar, out);
    }
    return new Archive(txz.toUri().toURL());
  }

  @Test
  void the_embedded_archive_contains_a_server() throws Exception {
    Binaries binaries = Binaries.embedded(Servers.CACHE);
    assertThat(binaries.major()).isEqualTo("18");
    assertThat(binaries.program("postgres")).isExecutable();
    assertThat(binaries.bin().resolveSibling("lib").resolve("libpq.so")).isSymbolicLink();
  }
}
