package trial;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.util.sketch.BloomFilter;

/** Spark's Bloom filter. The form is the version, 1 or 2. */
public final class Main implements Peer {
  public static void main(String[] args) throws IOException {
    Peer.serve(new Main());
  }

  @Override
  public String version() {
    return Peer.jar(BloomFilter.class);
  }

  @Override
  public String build(String kind, String form, int keys, double rate, String in, String out) throws IOException {
    long expected = Math.max(1, keys);
    long bits = BloomFilter.optimalNumOfBits(expected, rate);
    BloomFilter filter = BloomFilter.create(BloomFilter.Version.valueOf("V" + form), expected, bits, 0);
    Keys.read(in, key -> put(filter, kind, key));
    save(filter, out);
    return "";
  }

  @Override
  public void ask(String kind, String form, String file, String keys, String answers) throws IOException {
    BloomFilter filter = load(file);
    Keys.answer(keys, answers, key -> contains(filter, kind, key));
  }

  @Override
  public void again(String kind, String form, String file, String out) throws IOException {
    save(load(file), out);
  }

  private static void put(BloomFilter filter, String kind, byte[] key) {
    switch (kind) {
      case "text" -> filter.putString(Keys.text(key));
      case "bytes" -> filter.putBinary(key);
      case "int64" -> filter.putLong(Keys.number(key));
      default -> throw new IllegalArgumentException(kind);
    }
  }

  private static boolean contains(BloomFilter filter, String kind, byte[] key) {
    return switch (kind) {
      case "text" -> filter.mightContainString(Keys.text(key));
      case "bytes" -> filter.mightContainBinary(key);
      case "int64" -> filter.mightContainLong(Keys.number(key));
      default -> throw new IllegalArgumentException(kind);
    };
  }

  private static BloomFilter load(String file) throws IOException {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(Path.of(file)))) {
      return BloomFilter.readFrom(in);
    }
  }

  private static void save(BloomFilter filter, String file) throws IOException {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(Path.of(file)))) {
      filter.writeTo(out);
    }
  }
}
