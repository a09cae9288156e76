"""The exceptions of this package. Missing files and the like stay OSError."""

from __future__ import annotations


class Error(Exception):
    """The base of all exceptions of this package."""


class FormatError(Error, ValueError):
    """A file that cannot be read. Each cause has a subclass.

    offset is where the fault is, in bytes from the start of the file, or None if no single place is to blame.
    path is the file, or None if it was opened from bytes.
    """

    def __init__(self, message: str, offset: int | None = None, path: str | None = None) -> None:
        place = message if offset is None else f"{message} (at byte {offset})"
        super().__init__(place if path is None else f"{path}: {place}")
        self.message, self.offset, self.path = message, offset, path

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, int | None, str | None]]:
        return type(self), (self.message, self.offset, self.path)


class MagicError(FormatError):
    """Not a Bloomery file."""


class VersionError(FormatError):
    """The file was written by a newer version of Bloomery."""


class FamilyError(FormatError):
    """The family of the filter is unknown here."""


class HashError(FormatError):
    """The hash function of the filter is unknown."""


class ChecksumError(FormatError):
    """A checksum does not match: the file is damaged."""


class CorruptError(FormatError):
    """The file contradicts itself."""


class TruncatedError(FormatError):
    """The file ends too early."""


class TooLargeError(FormatError):
    """The filter is too large for this machine."""


class ManifestError(FormatError):
    """The manifest of a sharded set is damaged, contradicts itself, or is of a newer version."""


class SecretError(Error, ValueError):
    """The filter was built with another secret."""


class NoSecretError(SecretError):
    """The filter was built with a secret, and none was given."""


class ShardError(Error):
    """A shard of a sharded set cannot be loaded, for the reason in __cause__. The answer for its keys is not known.

    The next query tries again. file is the name of the shard's file.
    """

    def __init__(self, file: str, why: str) -> None:
        super().__init__(f"shard {file}: {why}")
        self.file, self.why = file, why

    def __reduce__(self) -> tuple[type[ShardError], tuple[str, str]]:
        return type(self), (self.file, self.why)


class CommandError(Error):
    """The command of Bloomery ended with an error.

    message is its text, hint its advice or None, exit_code its exit code.
    """

    def __init__(self, message: str, hint: str | None = None, exit_code: int = 2) -> None:
        super().__init__(message if hint is None else f"{message}; {hint}")
        self.message, self.hint, self.exit_code = message, hint, exit_code

    def __reduce__(self) -> tuple[type[CommandError], tuple[str, str | None, int]]:
        return type(self), (self.message, self.hint, self.exit_code)


class CommandNotFoundError(Error, FileNotFoundError):
    """The command of Bloomery is not installed."""


# By the results of bloomery.h.
_FORMAT_ERRORS: dict[int, type[FormatError]] = {
    1: MagicError,
    2: VersionError,
    3: FamilyError,
    4: HashError,
    5: ChecksumError,
    6: CorruptError,
    7: TruncatedError,
    8: TooLargeError,
}


def refused(result: tuple[int, str, int], path: str | None) -> FormatError | SecretError:
    """Returns the exception for a result of _core.open."""
    code, message, offset = result
    if code == 9:
        return NoSecretError(message if path is None else f"{path}: {message}")
    if code == 10:
        return SecretError(message if path is None else f"{path}: {message}")
    message = message.replace("use a newer bloomery.h", "update bloomery-filters")
    return _FORMAT_ERRORS.get(code, FormatError)(message, None if offset < 0 else offset, path)
