package peers;

import java.io.Serializable;

/** A payload that all of them can store; db-scheduler does so by Java's own serialization. */
record Mail(String to, String subject) implements Serializable {}
