package filter

import (
	"errors"
	"fmt"
)

// Errors of a configuration or a Spec. Test all errors of this module with errors.Is.
var (
	// ErrConfig means that a parameter is out of its documented range, or contradicts another. See ConfigError, which
	// names the parameter and what is allowed.
	ErrConfig = errors.New("invalid configuration")
	// ErrSpec means that the text of a Spec does not parse.
	ErrSpec = errors.New("invalid spec")
	// ErrFamily means that there is no family of a name, or of a number in a file. A file may come from a newer version.
	ErrFamily = errors.New("unknown family")
	// ErrTooLarge means that a size exceeds a limit or the memory of this machine. Raise the limit, or choose a smaller
	// filter.
	ErrTooLarge = errors.New("too large")
	// ErrUnsupported means that a family lacks an operation. It is errors.ErrUnsupported. Choose a family by needs.
	ErrUnsupported = errors.ErrUnsupported
)

// Errors of keys.
var (
	// ErrNotFound means that a key to remove or to change is not in the filter, which is unchanged.
	ErrNotFound = errors.New("key not found")
	// ErrFull means that a filter has no room for another key. It is unchanged. Build a larger one.
	ErrFull = errors.New("filter is full")
	// ErrStrangers means that a list of keys to remove has keys that were never added: others may be lost. Nothing was
	// removed. Check the list.
	ErrStrangers = errors.New("the list has keys that were never added")
	// ErrRate means that the false-positive rate of a filter is above the highest allowed one. See RateError. Build a
	// larger filter.
	ErrRate = errors.New("the false-positive rate is too high")
	// ErrKeys means that a build got another number of keys than announced. See KeysError.
	ErrKeys = errors.New("wrong number of keys")
	// ErrShrunk means that a list has lost more keys since an earlier version than is allowed: it may be cut. See
	// ShrinkError.
	ErrShrunk = errors.New("the list has shrunk")
	// ErrAllowed means that a key of a list of keys that are not members is a member. See AllowedError.
	ErrAllowed = errors.New("a key is a member and allowed")
	// ErrValues means that a build got a key with two values. See ValueError.
	ErrValues = errors.New("a key has two values")
	// ErrExceptions means that a set has exceptions, so that its keys cannot change. It wraps ErrUnsupported.
	ErrExceptions = fmt.Errorf("the set has exceptions for allowed keys: they hold only for the keys that it was "+
		"built from; build it again with the new keys: %w", errors.ErrUnsupported)
	// ErrMismatch means that two filters cannot be combined: their spec, hash function, seed or secret differ, or one
	// is nil.
	ErrMismatch = errors.New("filters do not match")
	// ErrEnough ends a search early and keeps its result. Pass it to the function that context.WithCancelCause returns.
	ErrEnough = errors.New("enough")
)

// ErrClosed means that a Set, Live, Builder or job was used after its Close, or a Builder or job after it ended. Open or
// make another one.
var ErrClosed = errors.New("closed")

// Errors of files. Reading also returns ErrFamily, ErrTooLarge and io.ErrUnexpectedEOF, with a FormatError.
var (
	// ErrMagic means that a file is no Bloomery file.
	ErrMagic = errors.New("not a Bloomery file")
	// ErrExact means that a file is an exact set, which package exact reads. It wraps ErrMagic.
	ErrExact error = &narrower{"an exact set, not a filter file", ErrMagic}
	// ErrVersion means that a newer version of Bloomery wrote a file. Upgrade.
	ErrVersion = errors.New("written by a newer version of Bloomery")
	// ErrHash means that the hash function of a file is unknown. Upgrade.
	ErrHash = errors.New("unknown hash function")
	// ErrChecksum means that a file is damaged. Fetch or build it again.
	ErrChecksum = errors.New("checksum does not match: the file is damaged")
	// ErrCorrupt means that the parts of a file cannot belong together, though the checksums match.
	ErrCorrupt = errors.New("the file contradicts itself")
	// ErrSecret means that the hash is keyed and the secret is missing or wrong.
	ErrSecret = errors.New("the secret is not the one that this filter was built with")
	// ErrNoSecret means that the hash is keyed and no secret was given. It wraps ErrSecret.
	ErrNoSecret error = &narrower{"the filter was built with a secret, and none was given", ErrSecret}
	// ErrChanged means that another process changed a file after it was read and before it was replaced. Read it again
	// and repeat the change, or take a lock first.
	ErrChanged = errors.New("another process changed the file meanwhile")
	// ErrOwner means that a file was replaced, but could not get the owner and the group of the old one.
	ErrOwner = errors.New("the file has another owner or group than before")
	// ErrFile means that a file was overwritten or truncated in place while it was mapped. Answers may be wrong. Open it
	// again, and replace files by rename.
	ErrFile = errors.New("the file was changed in place while it was in use")
)

// narrower is a sentinel with its own text that wraps a more general one.
type narrower struct {
	text string
	of   error
}

func (n *narrower) Error() string { return n.text }

func (n *narrower) Unwrap() error { return n.of }
