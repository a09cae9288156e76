package trial;

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

  public byte[] bytes() {
    return Arrays.copyOf(bytes, (count + 7) / 8);
  }
}
