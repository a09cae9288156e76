// Package publish distributes filters to many readers and keeps them current.
//
// A publisher writes a folder that any web server or bucket can serve:
//
//	release.json       the current release; replaced by rename when all that it names is there
//	objects/<SHA-256>  filter files, manifests and shards of sharded sets, deltas and histories, named by their hash
//
// A reader polls release.json, checks its signature, and loads the object that it needs: usually the delta from the
// release before. Names in a release are hashes, never paths. docs/format/release.md specifies the files.
package publish
