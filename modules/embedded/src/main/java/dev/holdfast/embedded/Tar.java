package dev.holdfast.embedded;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;

/**
 * Reads the plain tar archives the server binaries come in: files, folders, links to neighbours.
 */
final class Tar {
  private static final int BLOCK = 512;
  private static final PosixFilePermission[] BITS = {
    PosixFilePermission.OTHERS_EXECUTE,
    PosixFilePermission.OTHERS_WRITE,
    PosixFilePermission.OTHERS_READ,
    PosixFilePermission.GROUP_EXECUTE,
    PosixFilePermission.GROUP_WRITE,
    PosixFilePermission.GROUP_READ,
    PosixFilePermission.OWNER_EXECUTE,
    PosixFilePermission.OWNER_WRITE,
    PosixFilePermission.OWNER_READ
  };

  private final InputStream in;
  private final Path root;

  private Tar(InputStream in, Path root) {
    this.in = in;
    this.root = root.normalize();
  }

  static void extract(InputStream in, Path root) throws IOException {
    new Tar(in, root).extract();
  }

  private void extract() throws IOException {
    byte[] header = in.readNBytes(BLOCK);
    // An empty name marks the end of the archive.
    while (header.length == BLOCK && header[0] != 0) {
      entry(header);
      header = in.readNBytes(BLOCK);
    }
  }

  private void entry(byte[] header) throws IOException {
    String name = text(header, 0, 100);
    Path path = root.resolve(name).normalize();
    if (!path.startsWith(root)) {
      throw new IOException("archive entry leaves its folder: " + name);
    }
    long size = octal(header, 124, 12);
    char type = (char) header[156];
    switch (type) {
      case '0', '\0' -> file(path, size, (int) octal(header, 100, 8));
      case '5' -> Files.createDirectories(path);
      case '2' -> link(path, text(header, 157, 100));
      default -> throw new IOException("archive entry of unknown type " + type + ": " + name);
    }
  }

  private void file(Path path, long size, int mode) throws IOException {
    Files.createDirectories(path.getParent());
    // Fails on an existing file, so nothing is ever written through a link of the archive.
    try (OutputStream out = Files.newOutputStream(path, StandardOpenOption.CREATE_NEW)) {
      copy(out, size);
    }
    Files.setPosixFilePermissions(path, permissions(mode));
    in.skipNBytes((BLOCK - size % BLOCK) % BLOCK);
  }

  private void copy(OutputStream out, long size) throws IOException {
    byte[] buffer = new byte[64 * 1024];
    for (long left = size; left > 0; ) {
      int read = in.read(buffer, 0, (int) Math.min(buffer.length, left));
      if (read < 0) {
        throw new EOFException("archive ends early");
      }
      out.write(buffer, 0, read);
      left -= read;
    }
  }

  // A bare file name as target cannot lead out of the folder, not even through a second link.
  private static void link(Path path, String target) throws IOException {
    if (target.contains("/") || target.equals("..")) {
      throw new IOException("archive link leaves its folder: " + path + " -> " + target);
    }
    Files.createDirectories(path.getParent());
    Files.createSymbolicLink(path, Path.of(target));
  }

  private static Set<PosixFilePermission> permissions(int mode) {
    Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
    for (int bit = 0; bit < BITS.length; bit++) {
      if ((mode & (1 << bit)) != 0) {
        permissions.add(BITS[bit]);
      }
    }
    return permissions;
  }

  private static long octal(byte[] header, int at, int length) throws IOException {
    String digits = text(header, at, length).strip();
    try {
      return digits.isEmpty() ? 0 : Long.parseLong(digits, 8);
    } catch (NumberFormatException e) {
      throw new IOException("not a tar archive", e);
    }
  }

  private static String text(byte[] header, int at, int length) {
    int end = at;
    while (end < at + length && header[end] != 0) {
      end++;
    }
    return new String(header, at, end - at, StandardCharsets.UTF_8);
  }
}
