package dev.holdfast.chaos.fault;

import dev.holdfast.chaos.check.Recovery;
import dev.holdfast.chaos.fleet.Database;
import dev.holdfast.chaos.fleet.Fleet;

/** What faults break. */
public record Target(Database database, Fleet fleet, Recovery recovery) {}
