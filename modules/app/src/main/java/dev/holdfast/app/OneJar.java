package dev.holdfast.app;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collection;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * The program and all it needs in one jar: a file to copy, and one to open where each start would
 * open eighty. Nothing in it is compressed, for the same reason.
 */
public final class OneJar {
  private static final String META = "META-INF/";
  // What several jars bring under one name: services, where Helidon finds its parts, licences.
  private static final Pattern LISTS =
      Pattern.compile(
          "META-INF/(services/[^/]+|helidon/manifest|(LICENSE|NOTICE|DEPENDENCIES)[^/]*)");

  private final ZipOutputStream out;
  private final Set<String> written = new HashSet<>();
  private final Map<String, ByteArrayOutputStream> lists = new LinkedHashMap<>();

  private OneJar(ZipOutputStream out) {
    this.out = out;
    out.setMethod(ZipOutputStream.STORED);
  }

  /** Whoever runs from an older one meanwhile keeps it. */
  public static void write(Path target, Collection<Path> jars) throws IOException {
    Path fresh = target.resolveSibling(target.getFileName() + ".new");
    try (OutputStream file = Files.newOutputStream(fresh);
        ZipOutputStream out = new ZipOutputStream(file)) {
      OneJar one = new OneJar(out);
      one.put(META + "MANIFEST.MF", manifest());
      for (Path jar : jars) {
        one.add(jar);
      }
      for (Map.Entry<String, ByteArrayOutputStream> list : one.lists.entrySet()) {
        one.put(list.getKey(), list.getValue().toByteArray());
      }
    }
    Files.move(fresh, target, StandardCopyOption.ATOMIC_MOVE);
  }

  private static byte[] manifest() throws IOException {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(Attributes.Name.MAIN_CLASS, Main.class.getName());
    attributes.put(Attributes.Name.IMPLEMENTATION_VERSION, Version.text());
    attributes.put(Attributes.Name.MULTI_RELEASE, "true");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    manifest.write(bytes);
    return bytes.toByteArray();
  }

  private void add(Path jar) throws IOException {
    try (ZipFile in = new ZipFile(jar.toFile())) {
      Enumeration<? extends ZipEntry> entries = in.entries();
      while (entries.hasMoreElements()) {
        ZipEntry entry = entries.nextElement();
        if (isOfItsJarAlone(entry.getName())) {
          continue;
        }
        try (InputStream content = in.getInputStream(entry)) {
          add(entry, content.readAllBytes());
        }
      }
    }
  }

  private void add(ZipEntry entry, byte[] content) throws IOException {
    String name = entry.getName();
    if (LISTS.matcher(name).matches()) {
      ByteArrayOutputStream list =
          lists.computeIfAbsent(name, unused -> new ByteArrayOutputStream());
      list.writeBytes(content);
      list.writeBytes("\n".getBytes(StandardCharsets.UTF_8));
    } else if (written.add(name)) {
      put(name, content);
    }
  }

  private static boolean isOfItsJarAlone(String name) {
    return name.equals(META + "MANIFEST.MF")
        || name.equals(META + "INDEX.LIST")
        || name.startsWith(META + "maven/")
        || name.endsWith("module-info.class");
  }

  private void put(String name, byte[] content) throws IOException {
    CRC32 crc = new CRC32();
    crc.update(content);
    ZipEntry entry = new ZipEntry(name);
    entry.setSize(content.length);
    entry.setCrc(crc.getValue());
    entry.setTime(0); // the same jars make the same jar
    out.putNextEntry(entry);
    out.write(content);
    out.closeEntry();
  }
}
