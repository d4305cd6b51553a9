package dev.holdfast.model.ops;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * The machine this process runs on.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class Machine {
  private Machine() {}

  public static String name() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException nameless) {
      return "localhost";
    }
  }
}
