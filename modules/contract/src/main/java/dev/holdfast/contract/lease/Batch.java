package dev.holdfast.contract.lease;

import dev.holdfast.contract.json.Wire;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A body that holds a list, and no more of it than a server takes at once. */
public final class Batch {
  /** A server takes more, so that even the largest entry fits into a batch of its own. */
  private static final int BYTES = 1 << 20;

  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private int size;

  private Batch(String field) {
    body.writeBytes(("{\"" + field + "\":[").getBytes(StandardCharsets.UTF_8));
  }

  /** All of these, in their order, in as many batches as it takes. */
  public static List<Batch> of(String field, List<?> entries, int most) {
    List<Batch> batches = new ArrayList<>();
    Batch batch = new Batch(field);
    for (Object entry : entries) {
      byte[] json = Wire.write(entry);
      if (batch.size == most || (batch.size > 0 && batch.body.size() + json.length > BYTES)) {
        batches.add(batch);
        batch = new Batch(field);
      }
      batch.add(json);
    }
    if (batch.size > 0) {
      batches.add(batch);
    }
    return batches;
  }

  private void add(byte[] json) {
    if (size++ > 0) {
      body.write(',');
    }
    body.writeBytes(json);
  }

  public int size() {
    return size;
  }

  public byte[] json() {
    ByteArrayOutputStream whole = new ByteArrayOutputStream(body.size() + 2);
    whole.writeBytes(body.toByteArray());
    whole.write(']');
    whole.write('}');
    return whole.toByteArray();
  }
}
