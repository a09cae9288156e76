package com.google.common.hash; // for the older of the two strategies, which only this package can name

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.Consumer;

/**
 * Reads keys, a line each, from standard input.
 *
 * <p>write 32|64 KEYS RATE FILE puts them into a filter and writes that; ask FILE prints 1 or 0 for each; rewrite IN OUT reads a
 * filter and writes it.
 */
public final class GuavaDoor {
  public static void main(String[] args) throws IOException {
    switch (args[0]) {
      case "write":
        BloomFilterStrategies strategy = BloomFilterStrategies.valueOf("MURMUR128_MITZ_" + args[1]);
        BloomFilter<byte[]> made =
            BloomFilter.create(Funnels.byteArrayFunnel(), Long.parseLong(args[2]), Double.parseDouble(args[3]), strategy);
        lines(made::put);
        save(made, args[4]);
        break;
      case "ask":
        BloomFilter<byte[]> read = load(args[1]);
        OutputStream out = new BufferedOutputStream(System.out);
        lines(
            key -> {
              try {
                out.write(read.mightContain(key) ? '1' : '0');
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
        out.flush();
        break;
      case "rewrite":
        save(load(args[1]), args[2]);
        break;
      default:
        throw new IllegalArgumentException(args[0]);
    }
  }

  private static BloomFilter<byte[]> load(String path) throws IOException {
    try (InputStream in = new BufferedInputStream(new FileInputStream(path))) {
      return BloomFilter.readFrom(in, Funnels.byteArrayFunnel());
    }
  }

  private static void save(BloomFilter<byte[]> filter, String path) throws IOException {
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
