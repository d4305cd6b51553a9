package dev.holdfast.queue.admin;

import dev.holdfast.model.ops.ApiKey;

/** A key that is valid now, and the digest of its secret. */
public record KnownKey(ApiKey key, String digest) {}
