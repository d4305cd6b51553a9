package dev.holdfast.testkit.proxy;

import java.util.List;

/** Reads along what a client sends on one connection. */
public interface Requests {
  /** What these bytes ask of the server. */
  List<String> add(byte[] chunk, int length);
}
