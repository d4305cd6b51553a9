package dev.holdfast.server.http;

import dev.holdfast.server.Client;
import java.util.function.Supplier;

/** A request that must be rejected, and its response. */
public record BadCase(String name, int status, String error, Supplier<Client.Reply> request) {
  public static BadCase of(String name, int status, String error, Supplier<Client.Reply> request) {
    return new BadCase(name, status, error, request);
  }
}
