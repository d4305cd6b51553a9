package dev.holdfast.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** All samples, as a table for people and as JSON for comparison. */
final class Report {
  private final List<Sample> samples = new ArrayList<>();

  private record Key(String trial, String contender) {}

  void add(List<Sample> more) {
    samples.addAll(more);
  }

  /** Median, spread, and the ratio of Holdfast to each. */
  void print() {
    Map<Key, List<Sample>> groups = new LinkedHashMap<>();
    // By trial, in the order in which they were first run.
    List<String> trials = samples.stream().map(Sample::trial).distinct().toList();
    for (Sample sample :
        samples.stream()
            .sorted(Comparator.comparingInt(each -> trials.indexOf(each.trial())))
            .toList()) {
      groups
          .computeIfAbsent(new Key(sample.trial(), sample.contender()), key -> new ArrayList<>())
          .add(sample);
    }
    System.out.printf(
        Locale.ROOT,
        "%n%-18s %-17s %14s %-8s %21s %10s %8s %8s%n",
        "TRIAL",
        "QUEUE",
        "MEDIAN",
        "UNIT",
        "SPREAD",
        "HOLDFAST ×",
        "CLIENT",
        "SERVER");
    String before = "";
    for (Map.Entry<Key, List<Sample>> group : groups.entrySet()) {
      Key key = group.getKey();
      List<Sample> all = group.getValue();
      double median = median(all);
      if (!key.trial().equals(before) && !before.isEmpty()) {
        System.out.println();
      }
      List<Sample> ours = groups.get(new Key(key.trial(), "holdfast"));
      String ratio =
          ours == null || key.contender().equals("holdfast")
              ? ""
              : String.format(Locale.ROOT, "%.2f", median(ours) / median);
      System.out.printf(
          Locale.ROOT,
          "%-18s %-17s %,14.1f %-8s %,10.1f –%,10.1f %10s %8s %8s%n",
          key.trial().equals(before) ? "" : key.trial(),
          key.contender(),
          median,
          all.getFirst().unit(),
          all.stream().mapToDouble(Sample::value).min().orElse(0),
          all.stream().mapToDouble(Sample::value).max().orElse(0),
          ratio,
          seconds(all.stream().mapToDouble(Sample::client).average().orElse(0)),
          seconds(all.stream().mapToDouble(Sample::server).average().orElse(0)));
      before = key.trial();
    }
    System.out.println(
        "\nclient and server: seconds of processor time per 100,000 jobs; ratio: Holdfast's median to"
            + " this one's");
  }

  private static String seconds(double value) {
    return value == 0 ? "" : String.format(Locale.ROOT, "%.1f", value);
  }

  private static double median(List<Sample> samples) {
    double[] values = samples.stream().mapToDouble(Sample::value).sorted().toArray();
    int middle = values.length / 2;
    return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }

  void write(Path file, Map<String, Object> about) throws IOException {
    ObjectMapper mapper = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
    Files.writeString(
        file, mapper.writeValueAsString(Map.of("about", about, "samples", samples)) + "\n");
  }
}
