package dev.holdfast.server.http;

import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.config.ServerStartException;
import io.helidon.common.tls.Tls;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;

/** Reads a certificate and its private key from PEM files. */
public final class TlsFiles {
  private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
  private static final String END = "-----END PRIVATE KEY-----";

  private TlsFiles() {}

  public static Tls read(ServerOptions.Tls files) {
    return Tls.builder()
        .privateKey(key(files.key()))
        .privateKeyCertChain(chain(files.certificate()))
        .build();
  }

  private static List<X509Certificate> chain(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      List<X509Certificate> chain =
          CertificateFactory.getInstance("X.509").generateCertificates(in).stream()
              .map(X509Certificate.class::cast)
              .toList();
      if (!chain.isEmpty()) {
        return chain;
      }
    } catch (IOException | GeneralSecurityException unreadable) {
      throw cannotRead(file, "a certificate", unreadable);
    }
    throw cannotRead(file, "a certificate", null);
  }

  private static PrivateKey key(Path file) {
    try {
      String pem = Files.readString(file);
      int begin = pem.indexOf(BEGIN);
      int end = pem.indexOf(END);
      if (begin < 0 || end < begin) {
        throw cannotRead(file, "a private key in PKCS#8 form ('" + BEGIN + "')", null);
      }
      byte[] encoded = Base64.getMimeDecoder().decode(pem.substring(begin + BEGIN.length(), end));
      return decoded(file, new PKCS8EncodedKeySpec(encoded));
    } catch (IOException | IllegalArgumentException unreadable) {
      throw cannotRead(file, "a private key", unreadable);
    }
  }

  private static PrivateKey decoded(Path file, PKCS8EncodedKeySpec spec) {
    for (String algorithm : List.of("RSA", "EC", "Ed25519")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(spec);
      } catch (GeneralSecurityException another) {
        // a key of another algorithm
      }
    }
    throw cannotRead(file, "a private key of kind RSA, EC or Ed25519", null);
  }

  private static ServerStartException cannotRead(
      Path file, String what, @org.jspecify.annotations.Nullable Throwable cause) {
    return new ServerStartException(
        ServerStartException.Reason.TLS, "TLS: cannot read " + what + " from " + file, cause);
  }
}
