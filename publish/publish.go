// Package publish distributes a list to many readers and keeps them current: a publisher writes signed releases to a
// folder, any web server or bucket serves it, and each reader loads only what changed.
//
//	public, err := publish.CreateKey(ctx, "list.key") // once; also writes list.key.pub, for the readers
//	key, err := publish.ReadPrivateKey(ctx, "list.key")
//	report, err := publish.Publish(ctx, "site", "list.bloom", publish.Options{
//		Sign: []publish.PrivateKey{key}, State: []string{"list.key.state"}, // refuses to sign an older number again
//	})
//
//	live, err := publish.Follow(ctx, "https://lists.example/site", "copy.bloom", publish.WithKeys(public))
//	listed := live.ContainsString("yopmail.com")
//
// Begin with:
//
//   - Publisher: [CreateKey] makes a key, [Publish] publishes a file, and [Check] checks the folder as a reader would.
//   - Reader: [Follow] keeps a file current and returns a bloomery.Live of it, [FollowExact] an exact.Live. [Follower]
//     polls only when you call Poll or Run.
//
// The [guide] shows how to publish and follow, and which specs make small deltas.
//
// # The folder
//
// A publisher keeps in its folder:
//
//	release.json       the current release; replaced by rename when all objects that it names exist
//	objects/<SHA-256>  filter files, manifests, shards, deltas and histories, named by their hash
//
// A reader polls release.json, checks its signature, and loads the object that it needs: usually the delta from the
// release before. Names in a release are hashes, never paths. The [format] specifies the files.
//
// [format]: https://github.com/bloomery/bloomery/blob/main/docs/format/release.md
// [guide]: https://github.com/bloomery/bloomery/blob/main/docs/guides/publish.md
package publish

import "errors"

// Errors of Publish, in addition to errors of the published file.
var (
	// ErrOptions means that a field of Options is out of range.
	ErrOptions = errors.New("invalid option")
	// ErrName means that the folder publishes another list. Publish in another folder, or leave out Options.Name.
	ErrName = errors.New("the folder publishes something else")
	// ErrUntrusted means that the next release cannot build on the release.json in the folder, since it is unsigned,
	// signed by other keys, changed or damaged. The error wraps the reason, such as ErrUnsigned, ErrOtherKey,
	// ErrSignature or ErrRelease. If Options.Name and Options.Number are set, Publish replaces that release.json.
	ErrUntrusted = errors.New("the current release cannot be trusted")
	// ErrLost means that the folder has objects but no release.json, so the numbers that its readers have seen are
	// unknown. Set Options.Name and Options.Number.
	ErrLost = errors.New("release.json is lost, and the number of the next release is not known")
	// ErrKeyState means that a state file of Options.State cannot be read or written. Nothing was published: restore
	// the file, or set another one.
	ErrKeyState = errors.New("the state of the key cannot be used")
)

// Errors of a release, returned by Verify, ParseRelease, Check, Publish and Follower.Poll.
var (
	// ErrUnsigned means that a release has no signature.
	ErrUnsigned = errors.New("the release is not signed")
	// ErrOtherKey means that a release is signed, but not by a pinned key. Ask the publisher for the new key.
	ErrOtherKey = errors.New("the release is signed by none of the given keys")
	// ErrSignature means that the signature of a pinned key is wrong: the release was changed after it was
	// signed.
	ErrSignature = errors.New("the signature of the release is wrong: it was changed after it was signed")
	// ErrRelease means that a release or its list of older ones is not valid.
	ErrRelease = errors.New("invalid release")
	// ErrVersion means that a newer version of this software wrote a release or a state in an unknown format.
	ErrVersion = errors.New("written by a newer version; use a newer Bloomery")
	// ErrObject means that an object of a release is missing or has the wrong content. A mirror may be behind: try
	// again later.
	ErrObject = errors.New("an object of the release is missing or damaged")
	// ErrKey means that a text or a file is not a valid key of the expected type.
	ErrKey = errors.New("invalid key")
)

// Errors of a Follower, in addition to errors of releases and of package transport. After any error the file is
// unchanged, except after ErrExpired.
var (
	// ErrNoKey means that a follower has no key to check signatures with. Pass WithKeys or WithInsecure.
	ErrNoKey = errors.New("no key to check signatures with")
	// ErrExpired means that the newest release of the server has expired: the publisher or a mirror has stopped. If the
	// release is newer than the file, the file is replaced nevertheless.
	ErrExpired = errors.New("the release has expired")
	// ErrOlder means that the release of the server is older than an earlier accepted release that was signed by a key
	// that is pinned now. Releases that only formerly pinned keys have signed do not count.
	ErrOlder = errors.New("the server has an older release")
	// ErrConflict means that the content of a release differs from an earlier accepted release with the same number
	// that was signed by a key that is pinned now.
	ErrConflict = errors.New("another release with the same number")
	// ErrOtherName means that the server publishes another list than the one that the file follows.
	ErrOtherName = errors.New("another name is published")
	// ErrKind means that an exact set is published and a filter is followed, or the reverse: see
	// FollowExact.
	ErrKind = errors.New("another kind is published")
	// ErrState means that the state file beside the file cannot be read. Remove it to accept any release of
	// the server.
	ErrState = errors.New("the state of the follower is damaged")
	// ErrForeign means that another user of this machine could change files that a follower relies on; see WithForeign.
	ErrForeign = errors.New("another user could change it")
)
