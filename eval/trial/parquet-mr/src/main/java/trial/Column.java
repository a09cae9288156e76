package trial;

import org.apache.parquet.column.values.bloomfilter.BloomFilter;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Types;

/** A column of keys of one kind. */
enum Column {
  TEXT,
  BYTES,
  INT64,
  INT32;

  static Column of(String kind) {
    return valueOf(kind.toUpperCase());
  }

  MessageType schema() {
    var row = Types.buildMessage();
    return (switch (this) {
          case TEXT -> row.required(PrimitiveTypeName.BINARY).as(LogicalTypeAnnotation.stringType()).named("k");
          case BYTES -> row.required(PrimitiveTypeName.BINARY).named("k");
          case INT64 -> row.required(PrimitiveTypeName.INT64).named("k");
          case INT32 -> row.required(PrimitiveTypeName.INT32).named("k");
        })
        .named("row");
  }

  long hash(BloomFilter filter, byte[] key) {
    return switch (this) {
      case TEXT -> filter.hash(Binary.fromString(Keys.text(key)));
      case BYTES -> filter.hash(Binary.fromConstantByteArray(key));
      case INT64 -> filter.hash(Keys.number(key));
      case INT32 -> filter.hash(Keys.number32(key));
    };
  }

  /** Sets the column of a row. */
  Group put(Group row, byte[] key) {
    switch (this) {
      case TEXT -> row.add("k", Keys.text(key));
      case BYTES -> row.add("k", Binary.fromConstantByteArray(key));
      case INT64 -> row.add("k", Keys.number(key));
      case INT32 -> row.add("k", Keys.number32(key));
    }
    return row;
  }
}
