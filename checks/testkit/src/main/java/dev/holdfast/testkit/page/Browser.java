package dev.holdfast.testkit.page;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** A real Chromium, and somebody who looks at it and clicks. */
public final class Browser implements AutoCloseable {
  private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
  private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
  private static final String MISSING =
      "Chromium is not installed (on Debian: apt-get install chromium chromium-driver)";
  private static final Duration TIMEOUT = SOON;

  private final ChromeDriver driver;

  private Browser(ChromeDriver driver) {
    this.driver = driver;
  }

  public static Browser start() {
    if (!Files.isExecutable(CHROMIUM) || !Files.isExecutable(DRIVER)) {
      // Also here: the reason of a skipped test stands in no summary.
      System.err.println("The page is not tested: " + MISSING);
      abort(MISSING);
    }
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    ChromeOptions options = new ChromeOptions();
    options.setBinary(CHROMIUM.toFile());
    options.addArguments(
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage");
    options.setCapability("goog:loggingPrefs", logs);
    ChromeDriver driver =
        new ChromeDriver(
            new ChromeDriverService.Builder().usingDriverExecutable(DRIVER.toFile()).build(),
            options);
    driver.manage().timeouts().scriptTimeout(TIMEOUT);
    return new Browser(driver);
  }

  /** As at the beginning: no cookies, nothing said, a desk's width. */
  public void reset() {
    driver.get("about:blank");
    driver.executeCdpCommand("Network.clearBrowserCookies", Map.of());
    width(1280);
    var unused = errors();
  }

  public void open(URI server, String page) {
    // The same document with another fragment would not be loaded anew.
    leave();
    driver.get(server + "/" + page);
  }

  public void leave() {
    driver.get("about:blank");
  }

  public void back() {
    driver.navigate().back();
  }

  /** As a click on a link would. */
  public void go(String page) {
    script("location.hash = arguments[0]", page);
  }

  public void width(int pixels) {
    driver.manage().window().setSize(new Dimension(pixels, 900));
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", pixels, "height", 900, "deviceScaleFactor", 1, "mobile", false));
  }

  public @Nullable Object script(String text, Object... arguments) {
    return driver.executeScript(text, arguments);
  }

  /** The text hands its result to the last of its arguments. */
  public @Nullable Object later(String text, Object... arguments) {
    return driver.executeAsyncScript(text, arguments);
  }

  public String text() {
    return String.valueOf(script("return document.body.innerText"));
  }

  public void awaitText(String... texts) {
    Awaitility.await().atMost(TIMEOUT).untilAsserted(() -> assertThat(text()).contains(texts));
  }

  public void awaitNoText(String text) {
    Awaitility.await().atMost(TIMEOUT).untilAsserted(() -> assertThat(text()).doesNotContain(text));
  }

  public void awaitLive() {
    awaitConnection("live");
  }

  public void awaitConnection(String state) {
    awaitElement("#connection[data-state=" + state + "]");
  }

  public WebElement awaitElement(String css) {
    return Awaitility.await()
        .atMost(TIMEOUT)
        .until(
            () -> driver.findElements(By.cssSelector(css)).stream().findFirst().orElse(null),
            found -> found != null);
  }

  public boolean has(String css) {
    return !driver.findElements(By.cssSelector(css)).isEmpty();
  }

  /** The button with this text or label, as soon as it can be pressed. */
  public void press(String label) {
    press("//hf-app", label);
  }

  /** A button within the element of this XPath. */
  public void press(String within, String label) {
    String path =
        "%1$s//button[not(@disabled)][normalize-space(.)='%2$s' or @aria-label='%2$s']"
            .formatted(within, label);
    Awaitility.await()
        .atMost(TIMEOUT)
        .ignoreExceptionsInstanceOf(StaleElementReferenceException.class)
        .until(
            () -> {
              List<WebElement> found = driver.findElements(By.xpath(path));
              found.stream().findFirst().ifPresent(WebElement::click);
              return !found.isEmpty();
            });
  }

  /**
   * Checks a box wherever it is drawn: a click by position hits its neighbour if the page moves it
   * just then.
   */
  public void check(String css) {
    driver.executeScript("arguments[0].checked || arguments[0].click()", awaitElement(css));
  }

  /** Answers the question that is open. */
  public void answer(String reason, String button) {
    awaitElement("dialog[open]");
    if (!reason.isEmpty()) {
      awaitElement("dialog input[name=reason]").sendKeys(reason);
    }
    press("//dialog", button);
    Awaitility.await().atMost(TIMEOUT).until(() -> !has("dialog[open]"));
  }

  public List<String> buttons() {
    return driver.findElements(By.cssSelector("main button")).stream()
        .map(WebElement::getText)
        .toList();
  }

  public List<String> disabledButtons() {
    return driver.findElements(By.cssSelector("main button:disabled")).stream()
        .map(WebElement::getText)
        .toList();
  }

  /** What is seen, kept as build output. */
  public void picture(Path file) {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  public void type(String css, CharSequence... keys) {
    awaitElement(css).sendKeys(keys);
  }

  /** Moves the pointer there, and leaves it. */
  public void point(String css) {
    new Actions(driver).moveToElement(awaitElement(css)).perform();
  }

  public String focused() {
    return driver.switchTo().activeElement().getTagName();
  }

  /** By how much the page is wider than the window. */
  public long overflow() {
    return number(script("return document.documentElement.scrollWidth - innerWidth"));
  }

  public static long number(@Nullable Object read) {
    return Long.parseLong(String.valueOf(read));
  }

  /** What is still held after everything was given up that can be. */
  public record Held(long heapBytes, long nodes, long listeners) {}

  public Held held() {
    script("performance.clearResourceTimings()");
    for (int i = 0; i < 2; i++) {
      driver.executeCdpCommand("HeapProfiler.collectGarbage", Map.of());
    }
    Map<String, Object> dom = driver.executeCdpCommand("Memory.getDOMCounters", Map.of());
    Map<String, Object> heap = driver.executeCdpCommand("Runtime.getHeapUsage", Map.of());
    return new Held(
        number(heap.get("usedSize")),
        number(dom.get("nodes")),
        number(dom.get("jsEventListeners")));
  }

  /** What went wrong since it was asked last, violations of the policy among them. */
  public List<String> errors() {
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
