package types;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Types;

/** Writes the values of types.tsv into FOLDER/types-parquet-mr.parquet, with a filter for each column, by parquet-mr. */
public final class Main {
  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[0]), out = folder.resolve("types-parquet-mr.parquet");
    Map<String, List<String>> values = new LinkedHashMap<>();
    for (String line : Files.readAllLines(folder.resolve("types.tsv"))) {
      String[] parts = line.split("\t");
      values.computeIfAbsent(parts[0], name -> new ArrayList<>()).add(parts[1]);
    }

    var message = Types.buildMessage();
    for (String name : values.keySet()) {
      switch (name) {
        case "i8", "i16", "i32", "u8", "u16", "u32" -> message.required(PrimitiveTypeName.INT32)
            .as(LogicalTypeAnnotation.intType(Integer.parseInt(name.substring(1)), name.startsWith("i"))).named(name);
        case "i64", "u64" -> message.required(PrimitiveTypeName.INT64)
            .as(LogicalTypeAnnotation.intType(64, name.startsWith("i"))).named(name);
        case "date" -> message.required(PrimitiveTypeName.INT32).as(LogicalTypeAnnotation.dateType()).named(name);
        case "dec9" -> message.required(PrimitiveTypeName.INT32)
            .as(LogicalTypeAnnotation.decimalType(2, 9)).named(name);
        case "dec18" -> message.required(PrimitiveTypeName.INT64)
            .as(LogicalTypeAnnotation.decimalType(3, 18)).named(name);
        case "dec38" -> message.required(PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY).length(16)
            .as(LogicalTypeAnnotation.decimalType(6, 38)).named(name);
        case "decbin" -> message.required(PrimitiveTypeName.BINARY)
            .as(LogicalTypeAnnotation.decimalType(2, 20)).named(name);
        case "double" -> message.required(PrimitiveTypeName.DOUBLE).named(name);
        default -> message.required(PrimitiveTypeName.BINARY).as(LogicalTypeAnnotation.stringType()).named(name);
      }
    }
    MessageType schema = message.named("row");

    Files.deleteIfExists(out);
    var builder = ExampleParquetWriter.builder(new LocalOutputFile(out))
        .withConf(new PlainParquetConfiguration())
        .withType(schema)
        .withDictionaryEncoding(false); // a chunk with a dictionary has no filter
    for (String name : values.keySet()) {
      builder.withBloomFilterEnabled(name, true).withBloomFilterNDV(name, 40).withBloomFilterFPP(name, 0.01);
    }
    try (ParquetWriter<Group> writer = builder.build()) {
      for (int i = 0; i < values.get("text").size(); i++) {
        Group row = new SimpleGroup(schema);
        for (String name : values.keySet()) {
          add(row, name, values.get(name).get(i));
        }
        writer.write(row);
      }
    }
  }

  private static void add(Group row, String name, String text) {
    switch (name) {
      case "i8", "i16", "i32" -> row.add(name, Integer.parseInt(text));
      case "u8", "u16", "u32" -> row.add(name, Integer.parseUnsignedInt(text));
      case "i64" -> row.add(name, Long.parseLong(text));
      case "u64" -> row.add(name, Long.parseUnsignedLong(text));
      case "date" -> row.add(name, (int) LocalDate.parse(text).toEpochDay());
      case "dec9" -> row.add(name, unscaled(text).intValueExact());
      case "dec18" -> row.add(name, unscaled(text).longValueExact());
      case "dec38" -> row.add(name, Binary.fromConstantByteArray(wide(unscaled(text))));
      case "decbin" -> row.add(name, Binary.fromConstantByteArray(unscaled(text).toByteArray()));
      case "double" -> row.add(name, Double.parseDouble(text));
      default -> row.add(name, text);
    }
  }

  private static BigInteger unscaled(String text) {
    return new BigDecimal(text).unscaledValue();
  }

  /** Returns 16 bytes in two's complement. */
  private static byte[] wide(BigInteger n) {
    byte[] few = n.toByteArray(), all = new byte[16];
    for (int i = 0; i < 16; i++) {
      int at = i - (16 - few.length);
      all[i] = at >= 0 ? few[at] : (byte) n.signum() < 0 ? (byte) -1 : 0;
    }
    return all;
  }
}
