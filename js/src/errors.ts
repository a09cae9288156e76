// The errors of this package. Those of files mirror the sentinels of the Go packages container and filter.

/** A file that cannot be read. Each cause has a subclass. */
export class FormatError extends Error {
  /** Where reading stopped, in bytes from the start of the file; undefined if no place is to blame. */
  readonly offset: number | undefined;

  constructor(message: string, offset?: number) {
    super(offset === undefined ? message : `${message} (at byte ${offset})`);
    this.offset = offset;
  }
}

type Class<E> = new (message: string, offset?: number) => E;
/** An error of a subclass. Its name tells TypeScript that one subclass is not another. */
type Named<Name> = FormatError & { readonly name: Name };

/** Returns a subclass of that name, which stays in minified code. */
const kind = <Name extends string>(name: Name, base: Class<FormatError> = FormatError) =>
  ({
    [name]: class extends base {
      override name = name;
    },
  })[name] as Class<Named<Name>>;

/** Not a Bloomery file. */
export const MagicError = /* @__PURE__ */ kind('MagicError');
export type MagicError = Named<'MagicError'>;

/** The file was written by a newer version of Bloomery. */
export const VersionError = /* @__PURE__ */ kind('VersionError');
export type VersionError = Named<'VersionError'>;

/** A family that does not exist, or that was not given to `open`. */
export const FamilyError = /* @__PURE__ */ kind('FamilyError');
export type FamilyError = Named<'FamilyError'>;

/** An unknown hash function. */
export const HashError = /* @__PURE__ */ kind('HashError');
export type HashError = Named<'HashError'>;

/** A checksum does not match: the file is damaged. */
export const ChecksumError = /* @__PURE__ */ kind('ChecksumError');
export type ChecksumError = Named<'ChecksumError'>;

/** The file contradicts itself. */
export const CorruptError = /* @__PURE__ */ kind('CorruptError');
export type CorruptError = Named<'CorruptError'>;

/** The file ends too early. */
export const TruncatedError = /* @__PURE__ */ kind('TruncatedError');
export type TruncatedError = Named<'TruncatedError'>;

/** A size above a limit of the caller or of JavaScript. */
export const TooLargeError = /* @__PURE__ */ kind('TooLargeError');
export type TooLargeError = Named<'TooLargeError'>;

/** The filter was built with another secret. */
export const SecretError = /* @__PURE__ */ kind<'SecretError' | 'NoSecretError'>('SecretError');
export type SecretError = Named<'SecretError' | 'NoSecretError'>;

/** The filter was built with a secret, and none was given. It is a SecretError. */
export const NoSecretError = /* @__PURE__ */ kind('NoSecretError', SecretError);
export type NoSecretError = Named<'NoSecretError'>;

/** The manifest of a sharded set is damaged, contradicts itself, or was written by a newer version. */
export const ManifestError = /* @__PURE__ */ kind('ManifestError');
export type ManifestError = Named<'ManifestError'>;

/**
 * A shard of a sharded set could not be loaded, for the reason in `cause`: the answer for its keys is not known. The
 * next query tries again.
 */
export class ShardError extends Error {
  override name = 'ShardError';

  /** file is the name of the shard's file. */
  constructor(readonly file: string, cause: unknown) {
    super(`shard ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** A server did not send a file. */
export class FetchError extends Error {
  override name = 'FetchError';

  /** status is that of HTTP, or 0 if the connection failed, `cause` says why, or if the response is hidden (CORS). */
  constructor(readonly url: string, readonly status: number, what: string, cause?: unknown) {
    super(url ? `${url}: ${what}` : what, { cause });
  }
}
