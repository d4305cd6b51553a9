package dev.holdfast.model.ops;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** The machine this process runs on. */
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
