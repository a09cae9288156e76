package trial;

import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.parquet.column.values.bloomfilter.BlockSplitBloomFilter;
import org.apache.parquet.column.values.bloomfilter.BloomFilter;
import org.apache.parquet.format.BloomFilterAlgorithm;
import org.apache.parquet.format.BloomFilterCompression;
import org.apache.parquet.format.BloomFilterHash;
import org.apache.parquet.format.BloomFilterHeader;
import org.apache.parquet.format.SplitBlockAlgorithm;
import org.apache.parquet.format.Uncompressed;
import org.apache.parquet.format.Util;
import org.apache.parquet.format.XxHash;

/** A file with the header and the bit set of one filter. */
final class Plain {
  private Plain() {}

  static BloomFilter create(int keys, double rate) {
    return new BlockSplitBloomFilter(BlockSplitBloomFilter.optimalNumOfBits(Math.max(1, keys), rate) / 8);
  }

  static void save(BloomFilter filter, Path path) throws IOException {
    BloomFilterHeader header =
        new BloomFilterHeader(
            filter.getBitsetSize(),
            BloomFilterAlgorithm.BLOCK(new SplitBlockAlgorithm()),
            BloomFilterHash.XXHASH(new XxHash()),
            BloomFilterCompression.UNCOMPRESSED(new Uncompressed()));
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(path))) {
      Util.writeBloomFilterHeader(header, out);
      filter.writeTo(out);
    }
  }

  static BloomFilter load(Path path) throws IOException {
    ByteArrayInputStream in = new ByteArrayInputStream(Files.readAllBytes(path));
    BloomFilterHeader header = Util.readBloomFilterHeader(in);
    byte[] bits = in.readNBytes(header.getNumBytes());
    if (bits.length != header.getNumBytes() || in.available() > 0) {
      throw new IOException("a file of another length than " + header);
    }
    return new BlockSplitBloomFilter(bits);
  }
}
