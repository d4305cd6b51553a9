package dev.holdfast.chaos.load;

/** What handlers leak on purpose, in places where the program hides what looks like a secret. */
public final class Secrets {
  /** Long and like nothing else, so that it can be searched for. */
  public static final String PLANTED = "Zq7WmX2pLr9TkV4sBn8HcYd3";

  private Secrets() {}
}
