package dev.holdfast.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The folder of one embedded server. */
record Folder(Path root) {

  static Folder open(Path root) {
    try {
      Folder folder = new Folder(Files.createDirectories(root).toRealPath());
      if (!Files.isWritable(folder.root)) {
        throw new EmbeddedPostgresException(
            "folder %s is not writable: change its owner or mode, or choose another folder"
                .formatted(root));
      }
      return folder;
    } catch (IOException e) {
      throw new EmbeddedPostgresException(
          "cannot make folder %s (%s): choose a folder that may be written"
              .formatted(root, e.toString()),
          e);
    }
  }

  Path data() {
    return root.resolve("data");
  }

  Path log() {
    return root.resolve("postgres.log");
  }

  Path password() {
    return root.resolve("password");
  }

  Path service() {
    return root.resolve("pg_service.conf");
  }

  Path port() {
    return root.resolve("port");
  }

  Path lock() {
    return root.resolve("lock");
  }
}
