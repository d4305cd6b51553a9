package dev.holdfast.server.routing;

import dev.holdfast.model.ops.Role.Permission;

/** What a caller must show to use a route. */
public sealed interface Guard {
  /** Nothing. */
  record Open() implements Guard {}

  /** An API key whose role permits it. */
  record Needs(Permission permission) implements Guard {}

  /** Any API key; the route decides what each role gets. */
  record AnyKey() implements Guard {}

  /** The token of the task in the path. */
  record TaskToken() implements Guard {}

  Guard OPEN = new Open();
  Guard ANY_KEY = new AnyKey();
  Guard READ = new Needs(Permission.READ);
  Guard SUBMIT = new Needs(Permission.SUBMIT);
  Guard WORK = new Needs(Permission.WORK);
  Guard OPERATE = new Needs(Permission.OPERATE);
  Guard ADMINISTER = new Needs(Permission.ADMINISTER);
  Guard TASK = new TaskToken();
}
