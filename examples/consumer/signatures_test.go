package main

import (
	"context"
	"encoding"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/shard"
)

// Signatures of all functions and methods of the public packages: of the root package here, of the other packages in
// signatures_packages_test.go. A changed signature is a compile error. TestSignatures checks that no signature is
// missing.

// Short names for long types.
type (
	ctx    = context.Context
	text   = iter.Seq[string]
	sender = func(...any) error
)

// keyed lists the methods of a KeyedSet.
type keyed[key filter.Key] interface {
	Add(key) error
	AddMany([]key) error
	AddValue(key, uint64) error
	Contains(key) bool
	ContainsMany([]bool, []key)
	Count(key) (uint64, bool, error)
	Get(key) (uint64, bool, error)
	GetMany([]uint64, []bool, []key) error
	Put(key, uint64) error
	Remove(key) error
	TestAndAdd(key) (bool, error)
	Upsert(key, uint64) error
}

var (
	_ func(ctx, iter.Seq[[]byte], bloomery.Config) (*bloomery.Set, error)          = bloomery.Build[[]byte]
	_ func(ctx, iter.Seq[string], bloomery.Config) (*bloomery.Set, error)          = bloomery.Build[string]
	_ func(ctx, iter.Seq[uint64], bloomery.Config) (*bloomery.Set, error)          = bloomery.Build[uint64]
	_ func(ctx, iter.Seq[filter.Hash], bloomery.Config) (*bloomery.Set, error)     = bloomery.Build[filter.Hash]
	_ func(ctx, iter.Seq2[[]byte, error], bloomery.Config) (*bloomery.Set, error)  = bloomery.BuildFrom[[]byte]
	_ func(ctx, iter.Seq2[string, uint64], bloomery.Config) (*bloomery.Set, error) = bloomery.BuildValues[string]
	_ func([]byte, ...bloomery.Option) (*bloomery.Set, error)                      = bloomery.FromBytes
	_ func() bloomery.Option                                                       = bloomery.InMemory
	_ func(ctx, []string, ...bloomery.Option) (*bloomery.Set, error)               = bloomery.IntersectFiles
	_ func(*bloomery.Set) bloomery.KeyedSet[string]                                = bloomery.Keyed[string]
	_ func(io.Reader) iter.Seq2[[]byte, error]                                     = bloomery.Lines
	_ func(ctx, string, ...bloomery.Option) (*bloomery.Locked, error)              = bloomery.Lock
	_ func(ctx, []string, ...bloomery.Option) (*bloomery.Set, error)               = bloomery.MergeFiles
	_ func(bloomery.Config) (*bloomery.Set, error)                                 = bloomery.New
	_ func(ctx, bloomery.Config) (*bloomery.Builder, error)                        = bloomery.NewBuilder
	_ func(ctx, string, ...bloomery.Option) (*bloomery.Set, error)                 = bloomery.Open
	_ func(ctx, string, ...bloomery.Option) (*bloomery.Live, error)                = bloomery.OpenLive
	_ func(io.Reader, ...bloomery.Option) (*bloomery.Set, error)                   = bloomery.Read
	_ func() bloomery.Option                                                       = bloomery.WithConcurrent
	_ func(time.Duration) bloomery.Option                                          = bloomery.WithInterval
	_ func(func(ctx, *bloomery.Live, func(error))) bloomery.Option                 = bloomery.WithUpdater
	_ func(uint64) bloomery.Option                                                 = bloomery.WithMaxBytes
	_ func(*filter.Secret) bloomery.Option                                         = bloomery.WithSecret
	_ func(func()) bloomery.Option                                                 = bloomery.WithWaiting
)

var (
	_ interface {
		AddMany([][]byte) error
		Close() error
		Commit(context.Context) error
	} = (*bloomery.Addition)(nil)
	_ interface {
		AddMembers([][]byte) error
		AllowMany([][]byte) error
		Close() error
		Commit(context.Context) error
	} = (*bloomery.Allower)(nil)
	_ interface {
		Add([]byte) error
		AddHashValues([]filter.Hash, []uint64) error
		AddHashes([]filter.Hash) error
		AddMany([][]byte) error
		AddManyValues([][]byte, []uint64) error
		AddString(string) error
		AddValue([]byte, uint64) error
		Build(context.Context) (*bloomery.Set, error)
		Close() error
		Hasher() filter.Hasher
		Spec() filter.Spec
	} = (*bloomery.Builder)(nil)
	_ interface {
		Check() error
		Choose(context.Context) (plan.Choice, error)
		ForShard(context.Context) (bloomery.Config, error)
		String() string
	} = bloomery.Config{}
	_ keyed[[]byte]      = bloomery.KeyedSet[[]byte]{}
	_ keyed[string]      = bloomery.KeyedSet[string]{}
	_ keyed[uint64]      = bloomery.KeyedSet[uint64]{}
	_ keyed[filter.Hash] = bloomery.KeyedSet[filter.Hash]{}
	_ interface {
		Close() error
		Contains([]byte) bool
		ContainsString(string) bool
		Err() error
		Reload(context.Context) error
		String() string
		Swaps() uint64
		View(func(s *bloomery.Set))
	} = (*bloomery.Live)(nil)
	_ interface {
		Close() error
		Commit(context.Context) error
	} = (*bloomery.Locked)(nil)
	_ interface {
		AddMany([][]byte) error
		Close() error
		Commit(context.Context) (*bloomery.Set, error)
	} = (*bloomery.Optimizer)(nil)
	_ interface {
		Holds(float64) bool
	} = bloomery.Rate{}
	_ interface {
		AddMany([][]byte) error
		Close() error
		Commit(context.Context) (bloomery.Removed, error)
		Force()
		Look(context.Context) (bloomery.Removed, error)
	} = (*bloomery.Removal)(nil)
	_ interface {
		Add([]byte) error
		AddString(string) error
		AddValue([]byte, uint64) error
		Addition(bloomery.JobConfig) (*bloomery.Addition, error)
		Allower(bloomery.JobConfig) (*bloomery.Allower, error)
		Check(context.Context, func(bytes uint64)) error
		Clone() (*bloomery.Set, error)
		Close() error
		Contains([]byte) bool
		ContainsContext(context.Context, []byte) (bool, error)
		ContainsHash(filter.Hash) bool
		ContainsHashes([]bool, []filter.Hash)
		ContainsString(string) bool
		Count([]byte) (uint64, bool, error)
		Equal(*bloomery.Set) bool
		Err() error
		EstimateInterval() (bloomery.Estimate, error)
		EstimateOverlap(*bloomery.Set) (bloomery.Overlap, error)
		FileInfo() bloomery.FileInfo
		Format(fmt.State, rune)
		Full() (*bloomery.Set, error)
		Get([]byte) (uint64, bool, error)
		Hash([]byte) filter.Hash
		Hasher() filter.Hasher
		Info() filter.Info
		Intersect(*bloomery.Set) error
		Len() uint64
		Manifest() *shard.Manifest
		MarshalBinary() ([]byte, error)
		Merge(*bloomery.Set) error
		Optimizer(bloomery.JobConfig) (*bloomery.Optimizer, error)
		Put([]byte, uint64) error
		Removal(bloomery.JobConfig) (*bloomery.Removal, error)
		Remove([]byte) error
		Reset() error
		Save(context.Context, string) error
		Spec() filter.Spec
		String() string
		TestAndAdd([]byte) (bool, error)
		Trimmed() (*bloomery.Set, error)
		MarshalText() ([]byte, error)
		UnmarshalBinary([]byte) error
		UnmarshalText([]byte) error
		Upsert([]byte, uint64) error
		ValueBits() (int, error)
		Verifier(bloomery.JobConfig) (*bloomery.Verifier, error)
		WriteTo(io.Writer) (int64, error)
	} = (*bloomery.Set)(nil)
	_ interface {
		AddAbsent([][]byte) error
		AskMembers([][]byte) error
		AskRandom(context.Context, uint64, uint64, func(keys uint64)) error
		AskValues([][]byte, []uint64) error
		Close() error
		Commit(context.Context) (bloomery.Verification, error)
	} = (*bloomery.Verifier)(nil)
)

// Keys may be of named types.
type (
	name string
	blob []byte
	id   uint64
)

var (
	_ func(ctx, iter.Seq[name], bloomery.Config) (*bloomery.Set, error) = bloomery.Build[name]
	_ func(ctx, iter.Seq[blob], bloomery.Config) (*bloomery.Set, error) = bloomery.Build[blob]
	_ func(ctx, iter.Seq[id], bloomery.Config) (*bloomery.Set, error)   = bloomery.Build[id]
	_ keyed[name]                                                       = bloomery.Keyed[name](nil)
	_ keyed[blob]                                                       = bloomery.Keyed[blob](nil)
	_ keyed[id]                                                         = bloomery.Keyed[id](nil)
)

// The interfaces of the standard library that programs use.
var (
	_ encoding.BinaryMarshaler   = (*bloomery.Set)(nil)
	_ encoding.BinaryUnmarshaler = (*bloomery.Set)(nil)
	_ io.WriterTo                = (*bloomery.Set)(nil)
	_ io.Closer                  = (*bloomery.Set)(nil)
	_ io.Closer                  = (*bloomery.Builder)(nil)
	_ io.Closer                  = (*bloomery.Live)(nil)
	_ io.Closer                  = (*bloomery.Locked)(nil)
	_ fmt.Formatter              = (*bloomery.Set)(nil)
	_ fmt.Stringer               = (*bloomery.Live)(nil)
	_ error                      = (*filter.AllowedError)(nil)
	_ error                      = (*filter.ConfigError)(nil)
	_ error                      = (*plan.Impossible)(nil)
	_ error                      = (*shard.Error)(nil)
)
