import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.Consumer;
import org.apache.spark.util.sketch.BloomFilter;

/**
 * Reads keys, a line each, from standard input.
 *
 * <p>write V1|V2 KEYS RATE FILE puts them into a filter and writes that; ask FILE prints 1 or 0 for each, then for the numbers 0
 * to 99999; rewrite IN OUT reads a filter and writes it. Without keys, write puts the even numbers below KEYS.
 */
public final class SparkDoor {
  public static void main(String[] args) throws IOException {
    switch (args[0]) {
      case "write":
        long n = Long.parseLong(args[2]), bits = BloomFilter.optimalNumOfBits(n, Double.parseDouble(args[3]));
        BloomFilter made = BloomFilter.create(BloomFilter.Version.valueOf(args[1]), n, bits, 0);
        long[] count = {0};
        lines(
            key -> {
              made.putBinary(key);
              count[0]++;
            });
        for (long i = 0; count[0] == 0 && i < n; i += 2) made.putLong(i);
        save(made, args[4]);
        break;
      case "ask":
        BloomFilter read = load(args[1]);
        OutputStream out = new BufferedOutputStream(System.out);
        lines(key -> put(out, read.mightContainBinary(key)));
        for (long i = 0; i < 100_000; i++) put(out, read.mightContainLong(i));
        out.flush();
        break;
      case "rewrite":
        save(load(args[1]), args[2]);
        break;
      default:
        throw new IllegalArgumentException(args[0]);
    }
  }

  private static void put(OutputStream out, boolean is) {
    try {
      out.write(is ? '1' : '0');
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static BloomFilter load(String path) throws IOException {
    try (InputStream in = new BufferedInputStream(new FileInputStream(path))) {
      return BloomFilter.readFrom(in);
    }
  }

  private static void save(BloomFilter filter, String path) throws IOException {
    try (OutputStream out = new BufferedOutputStream(new FileOutputStream(path))) {
      filter.writeTo(out);
    }
  }

  private static void lines(Consumer<byte[]> each) throws IOException {
    InputStream in = new BufferedInputStream(System.in);
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int c; (c = in.read()) >= 0; ) {
      if (c == '\n') {
        each.accept(line.toByteArray());
        line.reset();
      } else {
        line.write(c);
      }
    }
  }
}
