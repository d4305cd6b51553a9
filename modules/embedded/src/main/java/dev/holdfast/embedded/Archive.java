package dev.holdfast.embedded;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.tukaani.xz.XZInputStream;

/** The server binaries on the class path, unpacked once per cache folder. */
final class Archive {
  private static final String UNPACKING = ".unpack-";
  private static final String LOCK = ".unpack.lock";
  private static final Duration ABANDONED = Duration.ofHours(1);

  private final URL resource;

  Archive(URL resource) {
    this.resource = resource;
  }

  /** The folder that holds bin/, lib/ and share/. */
  Path unpackedIn(Path cache) throws IOException {
    URLConnection connection = resource.openConnection();
    connection.setUseCaches(false);
    try (InputStream in = new BufferedInputStream(connection.getInputStream(), 1 << 16)) {
      Path target = cache.resolve("bin-" + fingerprint(connection));
      if (!Files.isDirectory(target)) {
        Files.createDirectories(cache);
        unpackOnce(in, cache, target);
      }
      return target;
    }
  }

  // The archive does not tell its version, but another version is another checksum.
  private static String fingerprint(URLConnection connection) throws IOException {
    long mark =
        connection instanceof JarURLConnection jar
            ? jar.getJarEntry().getCrc()
            : connection.getContentLengthLong();
    return HexFormat.of().toHexDigits((int) mark);
  }

  /** Whoever comes meanwhile waits: it takes seconds of all a processor can do. */
  private static void unpackOnce(InputStream in, Path cache, Path target) throws IOException {
    // A file lock is for other processes, and not for other threads.
    synchronized (Archive.class) {
      try (FileChannel lock =
          FileChannel.open(
              cache.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        lock.lock(); // until the channel is closed
        if (!Files.isDirectory(target)) {
          removeAbandoned(cache);
          unpack(in, cache, target);
        }
      }
    }
  }

  // In a temporary folder, which is renamed: no process sees one that is incomplete, even
  // after a power cut, and where locks are worth nothing the first rename wins.
  private static void unpack(InputStream in, Path cache, Path target) throws IOException {
    Path fresh = Files.createTempDirectory(cache, UNPACKING);
    try {
      // A server started for another account must be able to read its own binaries.
      Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString("rwxr-xr-x"));
      Tar.extract(new XZInputStream(in), fresh);
      Trees.sync(fresh);
      Files.move(fresh, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (FileSystemException e) {
      if (!Files.isDirectory(target)) {
        throw e;
      }
    } finally {
      Trees.delete(fresh);
    }
  }

  private static void removeAbandoned(Path cache) throws IOException {
    Instant limit = Instant.now().minus(ABANDONED);
    try (Stream<Path> entries = Files.list(cache)) {
      for (Path entry : entries.toList()) {
        if (entry.getFileName().toString().startsWith(UNPACKING)
            && Files.getLastModifiedTime(entry).toInstant().isBefore(limit)) {
          Trees.delete(entry);
        }
      }
    }
  }
}
