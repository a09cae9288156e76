package anneal

import "context"

// watchKey is the key of the context value of Watch.
type watchKey struct{}

// Watch returns a context for a build whose searches call each with their state after every pass. Searches of several
// shards call it concurrently. The lab plots rates by pass with it.
func Watch(ctx context.Context, each func(*State)) context.Context {
	return context.WithValue(ctx, watchKey{}, each)
}

// watcher returns the function of Watch, or nil.
func watcher(ctx context.Context) func(*State) {
	each, _ := ctx.Value(watchKey{}).(func(*State))
	return each
}
