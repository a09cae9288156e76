// Package otel provides a processor for the OpenTelemetry Collector that drops log records and spans whose key was seen
// within a time to live, in fixed memory. README.md shows a configuration and how to build a Collector with it.
//
// # No new record is lost
//
// A key is remembered only after the next consumer accepted its record. If the next consumer returns an error, the
// records of the batch are not remembered, so that they pass when the sender repeats them.
//
// While the record of a new key is being sent, a batch with the same key waits. If the record is accepted, the second one
// is dropped; if it is refused, the second one takes its place. So of two records with one key at the same moment, exactly
// one passes. If the wait ends with the context of the batch, none of the batch is sent and its sender gets the error.
//
// The state is written only from keys that are remembered. A Collector that is killed forgets the keys since the last
// save: their records pass once more if they are repeated.
//
// A new record is dropped only if its key is a false positive of the filter, at the rate of Config.FPR.
//
// # Memory
//
// The keys are in one or more filters of package [window], each for about a million keys, which share the keys by their
// hashes. They are saved one after the other, so that the copy that a save makes is small.
//
// [window]: https://pkg.go.dev/github.com/bloomery/bloomery/window
package otel
