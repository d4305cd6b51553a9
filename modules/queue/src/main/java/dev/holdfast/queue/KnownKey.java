package dev.holdfast.queue;

import dev.holdfast.model.ApiKey;

/** A key that is valid now, and the digest of its secret. */
public record KnownKey(ApiKey key, String digest) {}
