package guide;

record Charge(String customer, long cents) {}
