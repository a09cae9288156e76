package trial;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;

/** Files of keys and of answers. */
public final class Keys {
  private Keys() {}

  /** Takes the bytes of a key. */
  public interface Each {
    void key(byte[] bytes) throws IOException;
  }

  /** Calls each for all keys of a file. A key has its length in 4 bytes before it, little endian. */
  public static void read(String path, Each each) throws IOException {
    try (InputStream file = Files.newInputStream(Path.of(path));
        DataInputStream in = new DataInputStream(new BufferedInputStream(file, 1 << 20))) {
      while (true) {
        int length;
        try {
          length = Integer.reverseBytes(in.readInt());
        } catch (EOFException end) {
          return;
        }
        byte[] key = new byte[length];
        in.readFully(key);
        each.key(key);
      }
    }
  }

  /** Writes the answers to all keys of a file as bits, the lowest of a byte first. */
  public static void answer(String keys, String out, Predicate<byte[]> asked) throws IOException {
    Answers answers = new Answers();
    read(keys, key -> answers.add(asked.test(key)));
    answers.save(out);
  }

  /** Returns the text of a key in UTF-8. */
  public static String text(byte[] key) {
    return new String(key, StandardCharsets.UTF_8);
  }

  /** Returns the number of a key of 8 bytes. */
  public static long number(byte[] key) {
    return ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN).getLong();
  }

  /** Returns the number of a key of 4 bytes. */
  public static int number32(byte[] key) {
    return ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN).getInt();
  }
}
