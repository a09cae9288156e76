package filter

import (
	"errors"
	"fmt"
	"io/fs"
)

// Errors of a configuration or a Spec. Test all errors of this module with errors.Is.
var (
	// ErrConfig is returned if a parameter is out of its documented range or contradicts another. Correct
	// the parameter: a ConfigError names it and says what is allowed.
	ErrConfig = errors.New("invalid configuration")
	// ErrSpec is returned if the text of a Spec does not parse. Correct it at the byte that the message
	// gives.
	ErrSpec = errors.New("invalid spec")
	// ErrFamily is returned if no family has the given name, or the number in a file. Correct the name; for a file,
	// upgrade Bloomery: a newer version may have written it.
	ErrFamily = errors.New("unknown family")
	// ErrTooLarge is returned if a size exceeds a limit or the memory of this machine. Raise the limit, or
	// choose a smaller filter.
	ErrTooLarge = errors.New("too large")
	// ErrUnsupported is returned if a family lacks an operation. It is errors.ErrUnsupported. Choose a family by Needs.
	ErrUnsupported = errors.ErrUnsupported
)

// Errors of keys.
var (
	// ErrNotFound is returned if a key to remove or to change is not in the filter, which is unchanged.
	// Pass only keys that were added.
	ErrNotFound = errors.New("key not found")
	// ErrFull is returned if a filter has no room for another key. The filter is unchanged. Build a larger one, with a
	// higher capacity= or with growth=.
	ErrFull = errors.New("filter is full")
	// ErrStrangers is returned if a list of keys to remove has keys that were never added: removing them could remove
	// other keys. Nothing was removed. Check the list.
	ErrStrangers = errors.New("the list has keys that were never added")
	// ErrRate is returned if the false-positive rate of a filter is above the highest allowed one. Build a
	// larger filter.
	ErrRate = errors.New("the false-positive rate is too high")
	// ErrKeys is returned if the number of keys differs from Config.Keys. Set the exact number, or 0 if it is unknown.
	ErrKeys = errors.New("wrong number of keys")
	// ErrKeyType is returned for a value that no key of the type of the keys can be: no filter has it. See KeyForm.
	ErrKeyType = errors.New("not a value of the type of the keys")
	// ErrShrunk is returned if a list has lost more keys since an earlier version than is allowed: it may
	// be cut off. Check the list, then allow the loss.
	ErrShrunk = errors.New("the list has shrunk")
	// ErrAllowed is returned if an allowed key, which must not be a member, is a member. Remove it from one of the two
	// lists: an AllowedError names all such keys.
	ErrAllowed = errors.New("a key is a member and allowed")
	// ErrValues is returned if a build got a key with two values. Give each key one value. The message has the key or,
	// if only its hash is known, the hash in hexadecimal: the 16 digits of Hi and the first 8 digits of Lo.
	ErrValues = errors.New("a key has two values")
	// ErrExceptions is returned by an operation that would change the keys of a set with exceptions. Build it again
	// with the new keys. It wraps ErrUnsupported.
	ErrExceptions = fmt.Errorf("the set has exceptions for allowed keys: they hold only for the keys that it was "+
		"built from; build it again with the new keys: %w", errors.ErrUnsupported)
	// ErrMismatch is returned if two filters cannot be combined: their spec, hash function, seed or secret
	// differ, or one is nil. Build both with one configuration.
	ErrMismatch = errors.New("filters do not match")
	// ErrEnough is never returned: it ends a search early and keeps its result. Pass it to the function
	// that context.WithCancelCause returns.
	ErrEnough = errors.New("enough")
)

// ErrClosed is returned if a Set, Live, Builder or job is used after its Close, or a Builder or job after it has ended.
// Open or make another one.
var ErrClosed = errors.New("closed")

// Errors of the folders of sharded sets. See also package shard.
var (
	// ErrNoManifest is returned if a folder has no manifest and thus is not a sharded set. Check the path. It wraps
	// fs.ErrNotExist.
	ErrNoManifest error = &narrower{"no manifest.json in this folder: " + fs.ErrNotExist.Error(), fs.ErrNotExist}
	// ErrLocked is returned if another process builds or changes the sharded set in a folder. Wait for it, or use
	// another folder.
	ErrLocked = errors.New("another process builds or changes the set in this folder")
)

// Errors of files. Reading also returns ErrFamily, ErrTooLarge and io.ErrUnexpectedEOF, which means that a file is too
// short: fetch or build it again. Messages give the byte offset where reading stopped.
var (
	// ErrMagic is returned if a file is not a Bloomery file. Check the path; package interop reads files of other
	// systems.
	ErrMagic = errors.New("not a Bloomery file")
	// ErrExact is returned if a file is an exact set. Open it with package exact. It wraps ErrMagic.
	ErrExact error = &narrower{"an exact set, not a filter file", ErrMagic}
	// ErrVersion is returned if a newer version of Bloomery wrote a file. Upgrade.
	ErrVersion = errors.New("written by a newer version of Bloomery")
	// ErrHash is returned if the hash function of a file is unknown. Upgrade.
	ErrHash = errors.New("unknown hash function")
	// ErrChecksum is returned if a file is damaged. Fetch or build it again.
	ErrChecksum = errors.New("checksum does not match: the file is damaged")
	// ErrCorrupt is returned if the parts of a file contradict each other, although the checksums match. Fetch or build
	// it again; do not trust its source.
	ErrCorrupt = errors.New("the file contradicts itself")
	// ErrSecret is returned if the hash is keyed and the secret is missing or wrong. Pass the secret that the filter
	// was built with.
	ErrSecret = errors.New("the secret is not the one that this filter was built with")
	// ErrNoSecret is returned if the hash is keyed and no secret was given. Pass the secret that the filter was built
	// with. It wraps ErrSecret.
	ErrNoSecret error = &narrower{"the filter was built with a secret, and none was given", ErrSecret}
	// ErrChanged is returned if another process changed a file after it was read and before it was
	// replaced. Read it again and repeat the change, or take a lock first.
	ErrChanged = errors.New("another process changed the file meanwhile")
	// ErrOwner is reported if a file was replaced but could not be given the owner and group of the old file. The new
	// file is complete: set its owner, or replace it as the owner of the old file.
	ErrOwner = errors.New("the file has another owner or group than before")
	// ErrFile is returned if a file was overwritten or truncated in place while it was mapped. Answers may
	// be wrong. Open it again, and replace files by rename.
	ErrFile = errors.New("the file was changed in place while it was in use")
)

// ConfigError is an invalid parameter. It wraps ErrConfig.
type ConfigError struct {
	Field  string // the parameter's name in a Spec, such as "bits_per_key"
	Value  any    // the value that was given, or nil if the message does not show it
	Reason string // what is allowed, such as "want 1 to 64"
}

func (e *ConfigError) Error() string {
	if e.Value == nil {
		return fmt.Sprintf("%s: %s", e.Field, e.Reason)
	}
	return fmt.Sprintf("%s=%v: %s", e.Field, e.Value, e.Reason)
}

func (e *ConfigError) Unwrap() error { return ErrConfig }

// AllowedError means that some keys for which a set must answer false are members. It wraps ErrAllowed.
type AllowedError struct {
	Keys []string // all of them, sorted
}

func (e *AllowedError) Error() string {
	more := ""
	if n := len(e.Keys); n > 1 {
		more = fmt.Sprintf(", and so are %d others", n-1)
	}
	return fmt.Sprintf("key %.80q is a member and allowed%s; take it out of one of the lists", e.Keys[0], more)
}

func (e *AllowedError) Unwrap() error { return ErrAllowed }

// narrower is a sentinel with its own text that wraps a more general one.
type narrower struct {
	text string
	of   error
}

func (n *narrower) Error() string { return n.text }

func (n *narrower) Unwrap() error { return n.of }
