//go:build !unix

package untrusted

// nonblock is 0: on these systems no path names a pipe, or it opens without waiting.
const nonblock = 0
