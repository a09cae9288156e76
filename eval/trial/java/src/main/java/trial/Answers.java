package trial;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Bits, the lowest of a byte first. */
public final class Answers {
  private byte[] bytes = new byte[1024];
  private int count;

  public void add(boolean yes) {
    if (count / 8 == bytes.length) {
      bytes = Arrays.copyOf(bytes, 2 * bytes.length);
    }
    if (yes) {
      bytes[count / 8] |= (byte) (1 << count % 8);
    }
    count++;
  }

  public void save(String path) throws IOException {
    Files.write(Path.of(path), Arrays.copyOf(bytes, (count + 7) / 8));
  }
}
