package dev.holdfast.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Whole folders: deleted, or written through to the disk. */
final class Trees {
  private static final int FLUSHES = 16;

  private Trees() {}

  /**
   * A dying process may still write into the tree, so what comes and goes meanwhile is no error.
   */
  static void delete(Path tree) throws IOException {
    if (!Files.exists(tree)) {
      return;
    }
    Files.walkFileTree(
        tree,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException e)
              throws IOException {
            try {
              Files.deleteIfExists(folder);
            } catch (DirectoryNotEmptyException appeared) {
              // Left for the next time.
            }
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /** In parallel: the file system gathers flushes that wait together into one. */
  static void sync(Path tree) throws IOException {
    List<Path> entries;
    try (Stream<Path> walk = Files.walk(tree)) {
      entries = walk.filter(path -> !Files.isSymbolicLink(path)).toList();
    }
    try (ExecutorService executor = Executors.newFixedThreadPool(FLUSHES)) {
      entries.stream()
          .map(entry -> CompletableFuture.runAsync(() -> syncOne(entry), executor))
          .toList()
          .forEach(CompletableFuture::join);
    }
  }

  static void syncOne(Path path) {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
