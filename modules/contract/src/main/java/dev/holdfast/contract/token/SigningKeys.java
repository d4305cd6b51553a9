package dev.holdfast.contract.token;

import java.util.Optional;

/** The keys in use: one to sign with, some more that old tokens were signed with. */
public interface SigningKeys {
  SigningKey current();

  Optional<SigningKey> byId(String kid);
}
