package guide;

record Mail(String to, String subject) {}
