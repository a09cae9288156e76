// Package distribute builds a sharded set (package shard) of more keys than one machine can build, in steps that run on
// any number of machines. Any scheduler can run them: make, Kubernetes Jobs, ssh, Apache Beam. The result equals the
// one of bloomery.Build, byte for byte. The subcommands of bloomery shard are the same steps; the [guide] shows them.
//
//	NewPlan  divides the input into ranges                     once
//	Range    hashes the keys of a range; writes one run file   for every range, in any order, in parallel
//	Gather   requires all run files; writes the shard index    once, after all ranges
//	Build    builds the filter of a shard from its segments    for every shard, in any order, in parallel
//	Finish   requires all shards; installs them, then the      once, after all shards
//	         manifest
//
// One machine makes the plan with [NewPlan] and saves it in the output with [Plan.Save]. The others get its ID and read
// it there with [ReadPlan]. The other steps are methods of [Plan]. [Dir] is input or output in a folder.
//
// Every step is stateless: it reads the plan, its input and what earlier steps have written to the output. Every step
// is idempotent: it checks and keeps the finished files of an earlier attempt, and writes the same bytes. So a step may
// be killed at any moment and run again, and two attempts at the same step may run at the same time.
//
// # Requirements
//
// A build relies on these rules:
//
//   - All machines use the same input and output. Objects of the output appear whole or not at all; see [Store].
//   - The input does not change. Its sizes and versions are in the plan, and a change is an error.
//   - One plan at a time builds in an output: Finish removes the work of all plans that were saved before it wrote its
//     manifest; these plans cannot finish any more. A step that is still running then does not change the finished set.
//     It may leave working files, which the next Finish removes.
//   - In a Store without a lock, Save of another plan, or a change of the set, must not run at the same time as Finish.
//     If one of them runs at the same time and the Store has WriteIf, Finish returns an error, for example that a shard
//     is missing.
//   - No secret is written. Every Range and Build needs it again: see Options.Secret.
//
// # The output
//
// The steps write these objects:
//
//	work-ID/plan.json                          the plan; ID is its hash
//	work-ID/range-0000000.run                  one run file a range: the hashes of its keys
//	work-ID/index                              where the segments of each shard are
//	work-ID/00000-of-00016.3f2a9c01b7de.bloom  a finished shard; the suffix follows from its contents
//	work-ID/shard-00000.json                   the manifest entry of a finished shard
//	work-ID/replaces.sha256                    which manifest was there when the plan was saved
//	work-ID/cancelled-NAME                     a start of bloomery-beam that was cancelled
//	00000-of-00016.bloom                       the shards, from Finish on; in a Store with WriteIf from Build on
//	manifest.json                              written last, after which work-ID is removed
//
// If the output already has a set, its files stay until the new manifest is written: a shard with other contents gets a
// new name, and Finish removes the old files.
//
// [guide]: https://github.com/bloomery/bloomery/blob/main/docs/guides/large.md#on-many-machines
package distribute
