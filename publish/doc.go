// Package publish distributes filters to many readers and keeps them current.
//
// A publisher writes a folder that any web server or bucket can serve:
//
//	release.json       the current release; replaced by rename when all that it names is there
//	objects/<SHA-256>  filter files, manifests, shards, deltas and histories, named by their hash
//
// A reader polls release.json, checks its signature, and loads the object that it needs: usually the delta from the
// release before. Names in a release are hashes, never paths. docs/format/release.md specifies the files.
//
//   - Publisher: [CreateKey] makes a key, [Publish] publishes a file, and [Check] checks the folder as a reader would.
//   - Reader: [Follow] keeps a file current and returns a bloomery.Live of it, [FollowExact] an exact.Live. [Follower]
//     polls when it is told to.
package publish
