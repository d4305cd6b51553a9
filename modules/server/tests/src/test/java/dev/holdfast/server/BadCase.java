package dev.holdfast.server;

import dev.holdfast.server.http.Client;
import java.util.function.Supplier;

/** Something that must not be done, and how it is answered. */
public record BadCase(String name, int status, String error, Supplier<Client.Reply> request) {
  public static BadCase of(String name, int status, String error, Supplier<Client.Reply> request) {
    return new BadCase(name, status, error, request);
  }
}
