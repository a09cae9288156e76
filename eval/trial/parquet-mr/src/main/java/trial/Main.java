package trial;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.column.values.bloomfilter.BloomFilter;
import org.apache.parquet.hadoop.ParquetFileReader;

/** The Bloom filters of parquet-mr: with the form file in a Parquet file, with the form plain without one. */
public final class Main implements Peer {
  public static void main(String[] args) throws IOException {
    Peer.serve(new Main());
  }

  @Override
  public String version() {
    return Peer.jar(ParquetFileReader.class);
  }

  @Override
  public String build(String kind, String form, int keys, double rate, String in, String out) throws IOException {
    Column column = Column.of(kind);
    if (form.equals("file")) {
      return WholeFile.write(column, keys, rate, in, Path.of(out));
    }
    BloomFilter filter = Plain.create(keys, rate);
    Keys.read(in, key -> filter.insertHash(column.hash(filter, key)));
    Plain.save(filter, Path.of(out));
    return "";
  }

  @Override
  public void ask(String kind, String form, String file, String keys, String answers) throws IOException {
    Column column = Column.of(kind);
    List<BloomFilter> filters = new ArrayList<>();
    if (form.equals("file")) {
      filters.addAll(WholeFile.read(Path.of(file)));
    } else {
      filters.add(Plain.load(Path.of(file)));
    }
    Answers all = new Answers();
    for (BloomFilter filter : filters) {
      Keys.read(keys, key -> all.add(filter.findHash(column.hash(filter, key))));
    }
    all.save(answers);
  }

  @Override
  public void again(String kind, String form, String file, String out) throws IOException {
    Plain.save(Plain.load(Path.of(file)), Path.of(out));
  }
}
