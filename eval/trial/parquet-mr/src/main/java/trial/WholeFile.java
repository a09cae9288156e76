package trial;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.column.values.bloomfilter.BloomFilter;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;

/** A Parquet file of one column with a filter for each row group. */
final class WholeFile {
  /** The most row groups of a file. */
  private static final int GROUPS = 5;

  private WholeFile() {}

  /** Writes a file and returns where its filters lie. */
  static String write(Column column, int keys, double rate, String in, Path out) throws IOException {
    Files.deleteIfExists(out);
    MessageType schema = column.schema();
    int rows = (keys + GROUPS - 1) / GROUPS;
    try (ParquetWriter<Group> writer =
        ExampleParquetWriter.builder(new LocalOutputFile(out))
            .withConf(new PlainParquetConfiguration())
            .withType(schema)
            .withDictionaryEncoding(false) // a chunk with a dictionary has no filter
            .withRowGroupRowCountLimit(rows)
            .withBloomFilterEnabled("k", true)
            .withBloomFilterNDV("k", rows)
            .withBloomFilterFPP("k", rate)
            .withMaxBloomFilterBytes(1 << 27)
            .build()) {
      Keys.read(in, key -> writer.write(column.put(new SimpleGroup(schema), key)));
    }
    List<String> parts = new ArrayList<>();
    try (ParquetFileReader reader = open(out)) {
      for (BlockMetaData group : reader.getRowGroups()) {
        ColumnChunkMetaData chunk = group.getColumns().get(0);
        if (chunk.getBloomFilterOffset() < 0) {
          throw new IOException("a row group without a filter");
        }
        parts.add(chunk.getBloomFilterOffset() + ":" + chunk.getBloomFilterLength() + ":" + group.getRowCount());
      }
    }
    return String.join(" ", parts);
  }

  /** Returns the filters of a file. */
  static List<BloomFilter> read(Path path) throws IOException {
    List<BloomFilter> filters = new ArrayList<>();
    try (ParquetFileReader reader = open(path)) {
      for (BlockMetaData group : reader.getRowGroups()) {
        filters.add(reader.readBloomFilter(group.getColumns().get(0)));
      }
    }
    return filters;
  }

  private static ParquetFileReader open(Path path) throws IOException {
    return ParquetFileReader.open(new LocalInputFile(path));
  }
}
