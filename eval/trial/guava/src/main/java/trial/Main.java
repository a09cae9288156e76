package trial;

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Door;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;

/** Guava's Bloom filter. */
public final class Main implements Peer {
  public static void main(String[] args) throws IOException {
    Peer.serve(new Main());
  }

  /** A funnel, and how the bytes of a key become its value. */
  private record Type<T>(Funnel<? super T> funnel, Function<byte[], T> value) {
    void build(String form, int keys, double rate, String in, String out) throws IOException {
      BloomFilter<T> filter = Door.create(funnel, keys, rate, form);
      Keys.read(in, key -> filter.put(value.apply(key)));
      save(filter, out);
    }

    void ask(String file, String keys, String answers) throws IOException {
      BloomFilter<T> filter = load(file);
      Keys.answer(keys, answers, key -> filter.mightContain(value.apply(key)));
    }

    void again(String file, String out) throws IOException {
      save(load(file), out);
    }

    private BloomFilter<T> load(String file) throws IOException {
      try (InputStream in = new BufferedInputStream(Files.newInputStream(Path.of(file)))) {
        return BloomFilter.readFrom(in, funnel);
      }
    }

    private void save(BloomFilter<T> filter, String file) throws IOException {
      try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(Path.of(file)))) {
        filter.writeTo(out);
      }
    }
  }

  private static Type<?> type(String kind) {
    return switch (kind) {
      case "text" -> new Type<CharSequence>(Funnels.stringFunnel(StandardCharsets.UTF_8), Keys::text);
      case "utf16" -> new Type<CharSequence>(Funnels.unencodedCharsFunnel(), Keys::text);
      case "bytes" -> new Type<byte[]>(Funnels.byteArrayFunnel(), key -> key);
      case "int64" -> new Type<Long>(Funnels.longFunnel(), Keys::number);
      case "int32" -> new Type<Integer>(Funnels.integerFunnel(), Keys::number32);
      default -> throw new IllegalArgumentException(kind);
    };
  }

  @Override
  public String version() {
    return Peer.jar(BloomFilter.class);
  }

  @Override
  public String build(String kind, String form, int keys, double rate, String in, String out) throws IOException {
    type(kind).build(form, keys, rate, in, out);
    return "";
  }

  @Override
  public void ask(String kind, String form, String file, String keys, String answers) throws IOException {
    type(kind).ask(file, keys, answers);
  }

  @Override
  public void again(String kind, String form, String file, String out) throws IOException {
    type(kind).again(file, out);
  }
}
