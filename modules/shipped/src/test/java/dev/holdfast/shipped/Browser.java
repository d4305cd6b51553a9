package dev.holdfast.shipped;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.logging.Level;
import org.awaitility.Awaitility;
import org.openqa.selenium.By;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** A real Chromium that only looks. */
final class Browser implements AutoCloseable {
  private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
  private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
  private static final String MISSING =
      "Chromium is not installed (on Debian: apt-get install chromium chromium-driver)";

  private final ChromeDriver driver;

  private Browser(ChromeDriver driver) {
    this.driver = driver;
  }

  static Browser start() {
    if (!Files.isExecutable(CHROMIUM) || !Files.isExecutable(DRIVER)) {
      // Also here: the reason of a skipped test stands in no summary.
      System.err.println("The page of a fresh clone is not looked at: " + MISSING);
      abort(MISSING);
    }
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    ChromeOptions options = new ChromeOptions();
    options.setBinary(CHROMIUM.toFile());
    options.addArguments(
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage");
    options.setCapability("goog:loggingPrefs", logs);
    return new Browser(
        new ChromeDriver(
            new ChromeDriverService.Builder().usingDriverExecutable(DRIVER.toFile()).build(),
            options));
  }

  /** Opens it as a link would that somebody has sent, and waits until it shows these. */
  void see(URI page, String view, String... texts) {
    driver.get("about:blank");
    driver.get(page + "/" + view);
    Awaitility.await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              assertThat(driver.findElements(By.cssSelector("main h1"))).as(view).isNotEmpty();
              assertThat(driver.findElements(By.cssSelector("#connection[data-state=live]")))
                  .as(view)
                  .isNotEmpty();
              assertThat(String.valueOf(driver.executeScript("return document.body.innerText")))
                  .as(view)
                  .contains(texts);
            });
    assertThat(errors()).as(view).isEmpty();
  }

  private List<String> errors() {
    return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
        .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
        .map(LogEntry::getMessage)
        .toList();
  }

  @Override
  public void close() {
    driver.quit();
  }
}
