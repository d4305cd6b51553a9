package dev.holdfast.app.run;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.server.config.ServerOptions;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Checks that a port is free before anything is started that would have to be stopped. */
final class Ports {
  private Ports() {}

  static void check(ServerOptions options, String option) {
    if (options.port() == 0) {
      return;
    }
    try (ServerSocket socket =
        new ServerSocket(options.port(), 1, InetAddress.getByName(options.host()))) {
      socket.setReuseAddress(true);
    } catch (BindException taken) {
      throw new CommandException(
          ExitCode.LOCAL_ERROR,
          "cannot listen on %s port %d (%s): if another 'holdfast dev' or server has it, choose a port with %s, 0 for any"
              .formatted(
                  options.host(),
                  options.port(),
                  Terminal.oneLine(String.valueOf(taken.getMessage())),
                  option));
    } catch (IOException unknown) {
      throw new CommandException(
          ExitCode.CONFIGURATION,
          "cannot listen on '%s': it is no address of this machine (%s)"
              .formatted(
                  Terminal.oneLine(options.host()),
                  Terminal.oneLine(String.valueOf(unknown.getMessage()))));
    }
  }
}
