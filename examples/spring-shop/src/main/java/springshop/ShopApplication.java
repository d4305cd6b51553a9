package springshop;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** A shop that takes orders by HTTP. The mail and the invoice of an order are jobs. */
@SpringBootApplication
public class ShopApplication {
  public static void main(String[] arguments) {
    SpringApplication.run(ShopApplication.class, arguments);
  }
}
