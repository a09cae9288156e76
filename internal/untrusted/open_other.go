//go:build !unix

package untrusted

// On these systems a path cannot name a pipe, or opening the pipe does not wait.
const NoFollow, nonblock = 0, 0
