package springshop;

import java.util.UUID;

/** An order, and the payload of its jobs: any record that Jackson can write. */
public record Order(UUID id, String customer, long cents) {}
