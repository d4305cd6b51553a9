package newsletter;

// region issue
/** The payload of a job: any record that Jackson can write. */
public record Issue(String subject, int readers) {}
// endregion
