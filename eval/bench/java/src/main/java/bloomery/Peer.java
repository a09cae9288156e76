package bloomery;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Answers the commands of bench, line by line, about Guava's Bloom filter. Package versus, in ../versus, describes the
 * commands and starts this program.
 */
public final class Peer {
  private Session session;

  public static void main(String[] args) throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    Peer peer = new Peer();
    for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
      String reply;
      try {
        reply = "ok " + peer.answer(line);
      } catch (IOException | RuntimeException e) {
        reply = "error " + e.toString().replace('\n', ' ');
      }
      out.println(reply.trim());
    }
  }

  /** Carries out a command and returns the fields of the reply. */
  private String answer(String line) throws IOException {
    String[] words = line.split(" ", 4);
    switch (words[0]) {
      case "hello":
        return "protocol=1 runtime=Java-" + Runtime.version();
      case "keys":
        need(words, 4);
        session = null; // frees the keys of the last one
        session = Session.load(words[1], Integer.parseInt(words[2]), words[3]);
        return "";
      case "build":
        words = line.split(" ");
        need(words, 5);
        if (!words[1].equals("guava")) {
          throw new IllegalArgumentException("there is no filter " + words[1]);
        }
        return loaded().build(Integer.parseInt(words[2]), Integer.parseInt(words[3]), rate(words));
      case "ask":
        need(words, 4);
        if (!words[1].equals("single")) {
          throw new IllegalArgumentException(words[1] + ": the filter has single queries only");
        }
        return loaded().ask(Integer.parseInt(words[2]), Integer.parseInt(words[3]));
      default:
        throw new IllegalArgumentException(words[0] + ": want hello, keys, build, ask or quit");
    }
  }

  private Session loaded() {
    if (session == null) {
      throw new IllegalStateException("no keys are loaded");
    }
    return session;
  }

  private static void need(String[] words, int count) {
    if (words.length < count) {
      throw new IllegalArgumentException(words[0] + ": want " + (count - 1) + " words after the command");
    }
  }

  /** Returns the number of the word fpr=. */
  private static double rate(String[] words) {
    for (String word : words) {
      if (word.startsWith("fpr=")) {
        return Double.parseDouble(word.substring("fpr=".length()));
      }
    }
    throw new IllegalArgumentException("build: want fpr=");
  }
}
