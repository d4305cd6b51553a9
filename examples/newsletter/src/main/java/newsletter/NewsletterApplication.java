package newsletter;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
public class NewsletterApplication {
  public static void main(String[] arguments) {
    SpringApplication.run(NewsletterApplication.class, arguments);
  }
}
