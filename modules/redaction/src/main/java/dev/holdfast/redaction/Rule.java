package dev.holdfast.redaction;

/** How one kind of secret is told from ordinary text. */
interface Rule {
  /** What must be there, in whatever case, for the rule to apply. At most 64 characters. */
  String trigger();

  /**
   * Whether it is worth a closer look when the line is complete. Sees only what has been read: the
   * text from {@code begin} to the trigger's end.
   */
  boolean mayApply(char[] text, int begin, int at);

  /**
   * Hides what is secret about the trigger at {@code at}. Decides within {@link Line#AHEAD}
   * characters, so that its time and what must be held back are bounded; only the end of what it
   * hides may lie further away.
   */
  void apply(Line line, int at);
}
