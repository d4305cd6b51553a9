package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.operate.ReadCommand;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.model.wait.WaitSort;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What jobs ask people. */
@Command(
    name = "inbox",
    description = "List what jobs ask people, the oldest question first.",
    footer = {
      "",
      "Decide:",
      "  holdfast jobs approve ID --comment 'as agreed'",
      "  holdfast jobs reject ID --comment 'too expensive'"
    })
public final class InboxCommand extends ReadCommand<List<JobStatus>> {
  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      description = "how many questions at most; default: 50")
  int limit = 50;

  @Override
  protected void checkOptions() {
    Input.limit(limit, JobFilter.MOST);
  }

  @Override
  protected List<JobStatus> read(Operator operator) {
    return operator
        .jobs()
        .page(JobFilter.ALL.waits(WaitSort.APPROVAL).oldestFirst(true).limit(limit), true)
        .jobs();
  }

  @Override
  protected Object json(List<JobStatus> jobs) {
    return jobs;
  }

  @Override
  protected String text(List<JobStatus> jobs) {
    if (jobs.isEmpty()) {
      return "no job asks anybody\n";
    }
    Table table = new Table("ID", "KIND", "SINCE", "UNTIL", "THEN", "ROLE", "QUESTION");
    for (JobStatus job : jobs) {
      OpenWait open = job.waitsFor();
      OpenWait.Asked asked = open == null ? null : open.question();
      if (open != null && asked != null) {
        table.row(
            job.id(),
            job.kind(),
            open.since(),
            open.until() == null ? "" : open.until(),
            open.until() == null ? "" : asked.afterwards().name().toLowerCase(Locale.ROOT),
            asked.role().word(),
            asked.text());
      }
    }
    return table.toString();
  }
}
