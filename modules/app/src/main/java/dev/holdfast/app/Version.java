package dev.holdfast.app;

import picocli.CommandLine.IVersionProvider;

/** The version of this build, from its jar. */
final class Version implements IVersionProvider {
  static String text() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development build" : version;
  }

  @Override
  public String[] getVersion() {
    return new String[] {"holdfast " + text(), "java " + Runtime.version()};
  }
}
