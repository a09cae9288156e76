package bloomery;

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The loaded keys and the last filter of them. A process loads keys of one kind, so that the compiler sees one funnel,
 * as in a program of a user.
 */
abstract class Session {
  /** The size of a string in bytes. */
  private static final int STRING = 16;

  /** Bytes before the array in a serialized filter: strategy, probes per key, and the length of the array. */
  private static final int HEADER = 6;

  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  /** Builds a filter of keys from, inclusive, to to, exclusive. */
  abstract BloomFilter<?> make(int from, int to, double rate);

  /** Asks the last filter. Returns the number of positives. */
  abstract int count(int from, int to);

  /** Drops the last filter. */
  abstract void drop();

  final String build(int from, int to, double rate) throws IOException {
    drop();
    System.gc();
    long start = CLOCK.getCurrentThreadCpuTime();
    BloomFilter<?> filter = make(from, to, rate);
    long took = CLOCK.getCurrentThreadCpuTime() - start;
    Counter size = new Counter();
    filter.writeTo(size);
    return "ns=" + took + " bits=" + 8 * (size.bytes - HEADER) + " refused=0 batch=0";
  }

  final String ask(int from, int to) {
    long start = CLOCK.getCurrentThreadCpuTime();
    int positives = count(from, to);
    long took = CLOCK.getCurrentThreadCpuTime() - start;
    return "ns=" + took + " positives=" + positives;
  }

  /** Reads the file of fixed-size records. */
  static Session load(String kind, int count, String path) throws IOException {
    int size = kind.equals("strings") ? STRING : Long.BYTES;
    long bytes = Files.size(Path.of(path));
    if (bytes != (long) count * size) {
      throw new IOException(path + ": " + bytes + " bytes, want " + count + " keys of " + size + " bytes");
    }
    try (InputStream file = Files.newInputStream(Path.of(path));
        DataInputStream in = new DataInputStream(new BufferedInputStream(file, 1 << 20))) {
      switch (kind) {
        case "strings":
          return new Strings(in, count);
        case "integers":
          return new Integers(in, count);
        default:
          throw new IllegalArgumentException(kind + ": want strings or integers");
      }
    }
  }

  /** Strings, as bytes: their encoding would take most of the time of a query. */
  private static final class Strings extends Session {
    private final byte[][] keys;
    private BloomFilter<byte[]> filter;

    Strings(DataInputStream in, int count) throws IOException {
      keys = new byte[count][STRING];
      for (byte[] key : keys) {
        in.readFully(key);
      }
    }

    @Override
    BloomFilter<?> make(int from, int to, double rate) {
      Funnel<byte[]> funnel = Funnels.byteArrayFunnel();
      BloomFilter<byte[]> made = BloomFilter.create(funnel, to - from, rate);
      for (int i = from; i < to; i++) {
        made.put(keys[i]);
      }
      filter = made;
      return made;
    }

    @Override
    int count(int from, int to) {
      BloomFilter<byte[]> asked = filter;
      int n = 0;
      for (int i = from; i < to; i++) {
        if (asked.mightContain(keys[i])) {
          n++;
        }
      }
      return n;
    }

    @Override
    void drop() {
      filter = null;
    }
  }

  /** 64-bit integers. */
  private static final class Integers extends Session {
    private final long[] keys;
    private BloomFilter<Long> filter;

    Integers(DataInputStream in, int count) throws IOException {
      keys = new long[count];
      for (int i = 0; i < count; i++) {
        keys[i] = Long.reverseBytes(in.readLong()); // the file is little endian
      }
    }

    @Override
    BloomFilter<?> make(int from, int to, double rate) {
      BloomFilter<Long> made = BloomFilter.create(Funnels.longFunnel(), to - from, rate);
      for (int i = from; i < to; i++) {
        made.put(keys[i]);
      }
      filter = made;
      return made;
    }

    @Override
    int count(int from, int to) {
      BloomFilter<Long> asked = filter;
      int n = 0;
      for (int i = from; i < to; i++) {
        if (asked.mightContain(keys[i])) {
          n++;
        }
      }
      return n;
    }

    @Override
    void drop() {
      filter = null;
    }
  }

  /** Counts bytes. */
  private static final class Counter extends OutputStream {
    long bytes;

    @Override
    public void write(int b) {
      bytes++;
    }

    @Override
    public void write(byte[] b, int from, int length) {
      bytes += length;
    }
  }
}
