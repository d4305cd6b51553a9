package dev.holdfast.spring;

/** There are several data sources, and nothing says which one is Holdfast's. */
final class AmbiguousDataSourceException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  /**
   * @param names of the beans
   * @param marked whether they are those that are marked
   */
  AmbiguousDataSourceException(Iterable<String> names, boolean marked) {
    super(
        marked
            ? "several data sources are marked with @HoldfastDataSource ("
                + String.join(", ", names)
                + "): mark the one whose database has the schema 'holdfast'"
            : "there are several data sources ("
                + String.join(", ", names)
                + "), none of them is @Primary, and none is marked with @HoldfastDataSource: mark the"
                + " one whose database has the schema 'holdfast'");
  }
}
