package dev.holdfast.server.http;

import dev.holdfast.server.Client;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Collects requests that a server must reject. */
abstract class BadCases {
  final Bench b;
  final List<BadCase> cases = new ArrayList<>();

  BadCases(Bench bench) {
    this.b = bench;
  }

  final void add(String name, int status, String error, Supplier<Client.Reply> request) {
    cases.add(BadCase.of(name, status, error, request));
  }

  final void get(String path, int status, String error) {
    add("GET " + path, status, error, () -> b.get(path, b.admin));
  }
}
