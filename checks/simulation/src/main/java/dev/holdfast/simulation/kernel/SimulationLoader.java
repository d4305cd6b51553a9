package dev.holdfast.simulation.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Loads the classes that run in a simulation a second time, with {@link Substitution}. Classes in
 * the folders it is given come before those of the same name on the class path: this is how a
 * planted fault takes the place of the code that it breaks.
 */
public final class SimulationLoader extends URLClassLoader {
  private static final List<String> SIMULATED =
      List.of(
          "dev.holdfast.model.",
          "dev.holdfast.worker.",
          "dev.holdfast.supervisor.",
          "dev.holdfast.queue.",
          "dev.holdfast.simulation.queue.",
          "dev.holdfast.simulation.supervision.",
          "dev.holdfast.simulation.scenario.");

  /** Of these there is one copy: they are used from outside, or hold servers. */
  private static final List<String> SHARED =
      List.of(
          "dev.holdfast.simulation.kernel.",
          "dev.holdfast.simulation.trace.",
          "dev.holdfast.testkit.",
          "dev.holdfast.embedded.");

  private final List<String> own;
  private final @Nullable Substitution substitution;
  private volatile @Nullable String refused;

  private SimulationLoader(
      List<Path> folders, List<String> own, @Nullable Substitution substitution) {
    super(folders.stream().map(SimulationLoader::url).toArray(URL[]::new), parent());
    this.own = own;
    this.substitution = substitution;
  }

  /**
   * For virtual time.
   *
   * @param more further types to be replaced, by internal name
   */
  public static SimulationLoader simulating(List<Path> folders, Map<String, String> more) {
    return new SimulationLoader(folders, SIMULATED, new Substitution(more));
  }

  /** For real time: only the folders matter. */
  public static SimulationLoader plain(List<Path> folders) {
    return new SimulationLoader(folders, List.of("dev.holdfast."), null);
  }

  private static ClassLoader parent() {
    return SimulationLoader.class.getClassLoader();
  }

  private static URL url(Path folder) {
    try {
      return folder.toUri().toURL();
    } catch (MalformedURLException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /**
   * Calls of methods that a substitute does not have, in one line each.
   *
   * @param file a class of the product
   * @param more as for {@link #simulating}
   */
  public static Set<String> missing(Path file, Map<String, String> more) throws IOException {
    return new Substitution(more).missing(Files.readAllBytes(file));
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (own.stream().noneMatch(name::startsWith) || SHARED.stream().anyMatch(name::startsWith)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? define(name) : loaded;
    }
  }

  /** Why a class was refused; the thread that needed it may have kept it to itself. */
  public @Nullable String refused() {
    return refused;
  }

  private byte[] substituted(byte[] original) {
    try {
      return Objects.requireNonNull(substitution).of(original);
    } catch (IllegalStateException unfit) {
      refused = unfit.getMessage();
      throw unfit;
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    String file = name.replace('.', '/') + ".class";
    URL found = findResource(file);
    if (found == null) {
      found = getParent().getResource(file);
    }
    if (found == null) {
      throw new ClassNotFoundException(name);
    }
    try (InputStream in = found.openStream()) {
      byte[] original = in.readAllBytes();
      byte[] code = substitution == null ? original : substituted(original);
      return defineClass(name, code, 0, code.length);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
