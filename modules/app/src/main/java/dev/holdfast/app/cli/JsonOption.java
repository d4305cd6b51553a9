package dev.holdfast.app.cli;

import picocli.CommandLine.Option;

/** For programs. */
public final class JsonOption {
  @Option(names = "--json", description = "print JSON")
  public boolean json;
}
