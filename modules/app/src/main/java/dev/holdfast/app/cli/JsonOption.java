package dev.holdfast.app.cli;

import picocli.CommandLine.Option;

/** For programs. */
public final class JsonOption {
  @Option(names = "--json", description = "answer in JSON")
  public boolean json;
}
