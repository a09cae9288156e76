// Package versus compares our sets with filters of other languages.
//
// Each side is a process with one filter at a time: this program for ours (see [Serve]), and a small program in the
// peer's language, in ../rust and ../java. Both read the same file of keys and answer commands on standard input, one
// line each, so that rounds alternate (ours, peer, ours, peer, ...) without the cost of starting a process. A process
// measures the CPU time of the work alone.
//
// # Commands
//
// The reply to a command is one line: "ok" and fields such as ns=1200, or "error" and a sentence. A program ends at the
// end of its standard input, so that no process remains when bench is killed.
//
//	hello                            the first command. Reply: protocol=1, and runtime=NAME if that is known
//	keys KIND COUNT FILE             loads a file of records of 16 bytes, ASCII, if KIND is strings or arrays, or of 8
//	                                 bytes, little endian, if it is integers
//	build FILTER FROM TO NAME=VALUE  builds a filter of the keys FROM to TO-1. Reply: ns=, bits= of its arrays,
//	                                 refused= keys that it did not take, batch=1 if it has batch queries, else 0
//	ask single|batch FROM TO         asks for those keys. Reply: ns=, and positives=, the number of keys found
//	quit                             ends the program
//
// FILTER is a name in [Pairs], or for ours a spec. Names and values of build: fpr= is the target rate, bits= the size
// of our filter, for peers without a parameter for the rate, and hash= the hash function of our filter. The number of
// positives keeps compilers from dropping queries, and bench compares it between rounds.
//
//   - pairs.go lists what is compared, compare.go measures it.
//   - languages.go finds and builds the programs of the peers, process.go talks to them, keys.go writes the keys.
//   - serve.go and sets.go are our side.
package versus
