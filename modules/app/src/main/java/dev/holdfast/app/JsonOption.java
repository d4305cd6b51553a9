package dev.holdfast.app;

import picocli.CommandLine.Option;

/** For programs. */
final class JsonOption {
  @Option(names = "--json", description = "answer in JSON")
  boolean json;
}
