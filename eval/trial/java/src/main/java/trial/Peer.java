package trial;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** A system. The program trial, in Go, describes the calls. */
public interface Peer {
  String version();

  /** Returns where the filters lie in the file, or "" for the whole file. */
  String build(String kind, String form, int keys, double rate, String in, String out) throws IOException;

  void ask(String kind, String form, String file, String keys, String answers) throws IOException;

  void again(String kind, String form, String file, String out) throws IOException;

  /** Returns the name of the jar that a class is from, with the version of the library. */
  static String jar(Class<?> of) {
    String path = of.getProtectionDomain().getCodeSource().getLocation().getPath();
    return path.replaceAll(".*/", "").replaceAll("[.]jar$", "");
  }

  /** Answers the lines of standard input until it ends. */
  static void serve(Peer peer) throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err); // what libraries print
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] w = line.split("\t", -1);
      String reply;
      try {
        reply = "ok " + call(peer, w);
      } catch (IOException | RuntimeException e) {
        e.printStackTrace();
        reply = "error " + e.toString().replace('\n', ' ');
      }
      out.println(reply);
    }
  }

  private static String call(Peer peer, String[] w) throws IOException {
    switch (w[0]) {
      case "hello":
        return peer.version() + ", Java " + Runtime.version();
      case "build":
        return peer.build(w[1], w[2], Integer.parseInt(w[3]), Double.parseDouble(w[4]), w[5], w[6]);
      case "ask":
        peer.ask(w[1], w[2], w[3], w[4], w[5]);
        return "";
      case "again":
        peer.again(w[1], w[2], w[3], w[4]);
        return "";
      default:
        throw new IllegalArgumentException(w[0]);
    }
  }
}
