// The errors of this package. Those of files mirror the sentinels of the Go packages container and filter.

/** A file that cannot be read. Each cause has a subclass. */
export class FormatError extends Error {
  /** Where reading stopped, in bytes from the start of the file; -1 if no place is to blame. */
  readonly offset: number;

  constructor(message: string, offset = -1) {
    super(offset < 0 ? message : `${message} (at byte ${offset})`);
    this.offset = offset;
    this.name = new.target.label;
  }

  /** The name of the class, which minified code does not keep. */
  static label = 'FormatError';
}

/** Not a Bloomery file. */
export class MagicError extends FormatError {
  static override label = 'MagicError';
}

/** The file was written by a newer version of Bloomery. */
export class VersionError extends FormatError {
  static override label = 'VersionError';
}

/** A family that does not exist, or that was not given to `open`. */
export class FamilyError extends FormatError {
  static override label = 'FamilyError';
}

/** An unknown hash function. */
export class HashError extends FormatError {
  static override label = 'HashError';
}

/** A checksum does not match: the file is damaged. */
export class ChecksumError extends FormatError {
  static override label = 'ChecksumError';
}

/** The file contradicts itself. */
export class CorruptError extends FormatError {
  static override label = 'CorruptError';
}

/** The file ends too early. */
export class TruncatedError extends FormatError {
  static override label = 'TruncatedError';
}

/** A size above a limit of the caller or of JavaScript. */
export class TooLargeError extends FormatError {
  static override label = 'TooLargeError';
}

/** The filter was built with another secret. */
export class SecretError extends FormatError {
  static override label = 'SecretError';
}

/** The filter was built with a secret, and none was given. */
export class NoSecretError extends SecretError {
  static override label = 'NoSecretError';
}

/** The manifest of a sharded set is damaged, contradicts itself, or was written by a newer version. */
export class ManifestError extends FormatError {
  static override label = 'ManifestError';
}

/**
 * A shard of a sharded set could not be loaded, for the reason in `cause`: the answer for its keys is not known. The
 * next query tries again.
 */
export class ShardError extends Error {
  /** The name of the shard's file. */
  readonly file: string;

  constructor(file: string, cause: unknown) {
    super(`shard ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.file = file;
    this.name = 'ShardError';
  }
}

/** A server did not send a file. */
export class FetchError extends Error {
  readonly url: string;
  /** The status of HTTP, or 0 if the connection failed: `cause` says why. */
  readonly status: number;

  constructor(url: string, status: number, what: string, cause?: unknown) {
    super(`${url}: ${what}`, { cause });
    this.url = url;
    this.status = status;
    this.name = 'FetchError';
  }
}
