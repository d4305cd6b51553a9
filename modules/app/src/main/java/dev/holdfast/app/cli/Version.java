package dev.holdfast.app.cli;

import picocli.CommandLine.IVersionProvider;

/** The version of this build, from its jar. */
public final class Version implements IVersionProvider {
  public static String text() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development build" : version;
  }

  @Override
  public String[] getVersion() {
    return new String[] {"holdfast " + text(), "java " + Runtime.version()};
  }
}
