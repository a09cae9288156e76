package bloomery

// SetLockedMemory sets the memory limit of a Locked sharded Set and returns the old one.
func SetLockedMemory(n int64) (old int64) {
	old, lockedMemory = lockedMemory, n
	return old
}
