package dev.holdfast.workspace.git;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Recognises files whose content git-lfs has put in place of a pointer: they are what the commit
 * means, and no change.
 */
final class LfsFiles {
  private static final int SHA_1_CHARS = 40;
  private static final int MOST_ATTRIBUTES = 1 << 20;

  private final Path work;
  // The time of the last change, which no program can set: large files are read once.
  private final Map<String, Seen> seen = new ConcurrentHashMap<>();

  private record Seen(Object changed, long size, String pointer) {}

  LfsFiles(Path work) {
    this.work = work;
  }

  /** Whether this file of attributes, which a program may have made of any size, names some. */
  static boolean areNamedIn(Path attributes) throws IOException {
    return Files.size(attributes) <= MOST_ATTRIBUTES
        && Files.readString(attributes, StandardCharsets.ISO_8859_1).contains("filter=lfs");
  }

  /**
   * @param blob the id of what the index has for the file
   */
  boolean isContentOf(String blob, String printed) throws IOException {
    Path file;
    try {
      file = work.resolve(FileNames.read(printed));
    } catch (InvalidPathException unusual) {
      return false;
    }
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || !Files.isReadable(file)) {
      return false;
    }
    long size = Files.size(file);
    Object changed = Files.getAttribute(file, "unix:ctime", LinkOption.NOFOLLOW_LINKS);
    Seen known = seen.get(printed);
    if (known == null || !known.changed().equals(changed) || known.size() != size) {
      known = new Seen(changed, size, blobOf(pointer(Sha256.of(file), size), blob));
      seen.put(printed, known);
    }
    return known.pointer().equals(blob);
  }

  private static String blobOf(String text, String like) {
    byte[] content = text.getBytes(StandardCharsets.UTF_8);
    try {
      MessageDigest digest =
          MessageDigest.getInstance(like.length() == SHA_1_CHARS ? "SHA-1" : "SHA-256");
      digest.update(("blob " + content.length + "\0").getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest.digest(content));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static String pointer(String sha256, long size) {
    return "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n"
        .formatted(sha256, size);
  }
}
