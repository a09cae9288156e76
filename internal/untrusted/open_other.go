//go:build !unix

package untrusted

// On these systems no path names a pipe, or it opens without waiting.
const NoFollow, nonblock = 0, 0
