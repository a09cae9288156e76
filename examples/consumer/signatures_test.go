package main

import (
	"context"
	"encoding"
	"fmt"
	"io"
	"iter"
	"log/slog"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/shard"
)

type (
	name string
	blob []byte
	id   uint64
)

// The signatures that callers outside the module rely on. A change of one is a compile error here.
var (
	_ func(context.Context, iter.Seq[string], bloomery.Config) (*bloomery.Set, error)      = bloomery.Build[string]
	_ func(context.Context, iter.Seq[[]byte], bloomery.Config) (*bloomery.Set, error)      = bloomery.Build[[]byte]
	_ func(context.Context, iter.Seq[uint64], bloomery.Config) (*bloomery.Set, error)      = bloomery.Build[uint64]
	_ func(context.Context, iter.Seq2[id, uint64], bloomery.Config) (*bloomery.Set, error) = bloomery.BuildValues[id]

	_ func(context.Context, iter.Seq[name], bloomery.Config) (*bloomery.Set, error) = bloomery.Build[name]
	_ func(context.Context, iter.Seq[blob], bloomery.Config) (*bloomery.Set, error) = bloomery.Build[blob]
	_ func(context.Context, iter.Seq[id], bloomery.Config) (*bloomery.Set, error)   = bloomery.Build[id]

	_ func(context.Context, iter.Seq[id], string, bloomery.Config) (*shard.Manifest, error) = bloomery.BuildShards[id]
	_ func(string, bloomery.Config) (*bloomery.ShardBuilder, error)                         = bloomery.NewShardBuilder

	_ func(bloomery.Config) (*bloomery.Builder, error)                = bloomery.NewBuilder
	_ func(bloomery.Config) (*bloomery.Set, error)                    = bloomery.New
	_ func(string, ...bloomery.Option) (*bloomery.Set, error)         = bloomery.Open
	_ func(io.Reader, ...bloomery.Option) (*bloomery.Set, error)      = bloomery.Read
	_ func([]string, ...bloomery.Option) (*bloomery.Set, error)       = bloomery.MergeFiles
	_ func([]string, ...bloomery.Option) (*bloomery.Set, error)       = bloomery.IntersectFiles
	_ func([]byte, ...bloomery.Option) (*bloomery.Set, error)         = bloomery.FromBytes
	_ func(string, ...bloomery.Option) (*bloomery.Live, error)        = bloomery.OpenLive
	_ func(*filter.Secret) bloomery.Option                            = bloomery.WithSecret
	_ func(uint64) bloomery.Option                                    = bloomery.WithMaxBytes
	_ func() bloomery.Option                                          = bloomery.WithConcurrent
	_ func() bloomery.Option                                          = bloomery.InMemory
	_ func(*bloomery.Set, []byte) (bool, error)                       = (*bloomery.Set).TestAndAdd
	_ func(*bloomery.Set, string) (bool, error)                       = (*bloomery.Set).TestAndAddString
	_ func(*bloomery.Set, uint64) (bool, error)                       = (*bloomery.Set).TestAndAddUint64
	_ func(*bloomery.Set, filter.Hash) (bool, error)                  = (*bloomery.Set).TestAndAddHash
	_ func(*bloomery.Set, []byte) (uint64, bool, error)               = (*bloomery.Set).Count
	_ func(*bloomery.Set, context.Context, string) error              = (*bloomery.Set).Save
	_ func(*bloomery.Set, *bloomery.Set) bool                         = (*bloomery.Set).Equal
	_ func(*bloomery.Set) uint64                                      = (*bloomery.Set).Len
	_ func(*bloomery.Set, context.Context, iter.Seq[[]byte]) error    = (*bloomery.Set).Optimize
	_ func(*bloomery.Builder, context.Context) (*bloomery.Set, error) = (*bloomery.Builder).Build
	_ func(*bloomery.Set) (uint64, error)                             = (*bloomery.Set).EncodedLen
	_ func(*bloomery.Set, iter.Seq[[]byte]) bloomery.Rate             = (*bloomery.Set).MeasureFPR
	_ func(*bloomery.Set, bloomery.VerifierConfig) *bloomery.Verifier = (*bloomery.Set).NewVerifier
	_ func(context.Context, plan.Needs) (plan.Plan, error)            = bloomery.Plan

	_ func(*bloomery.Set) (bloomery.Estimate, error)               = (*bloomery.Set).EstimateInterval
	_ func(*bloomery.Set, *bloomery.Set) (bloomery.Overlap, error) = (*bloomery.Set).EstimateOverlap

	_ func(*bloomery.Set) float64           = (*bloomery.Set).FPRChosen
	_ func(*bloomery.Set, float64) error    = (*bloomery.Set).CheckFPR
	_ func(*bloomery.Set, float64) error    = (*bloomery.Set).SetFPRChosen
	_ func(bloomery.Rate, filter.Info) bool = bloomery.Rate.HoldsChosen
	_ func(filter.Info, float64) bool       = filter.Info.Exceeds
	_ func(filter.Info) bool                = filter.Info.Exceeded
	_ func(filter.Info, float64) error      = filter.Info.CheckFPR
	_                                       = bloomery.Config{FPRChosen: 0.01, MaxFPR: 0.02}
	_ error                                 = (*filter.RateError)(nil)
	_ error                                 = (*filter.KeysError)(nil)
	_ error                                 = filter.ErrRate
	_ error                                 = filter.ErrKeys

	_ func(*bloomery.Set) error  = (*bloomery.Set).Err
	_ func(*bloomery.Live) error = (*bloomery.Live).Err
)

var (
	_ encoding.BinaryMarshaler   = (*bloomery.Set)(nil)
	_ encoding.BinaryUnmarshaler = (*bloomery.Set)(nil)
	_ encoding.BinaryAppender    = (*bloomery.Set)(nil)
	_ encoding.TextMarshaler     = (*bloomery.Set)(nil)
	_ encoding.TextUnmarshaler   = (*bloomery.Set)(nil)
	_ io.WriterTo                = (*bloomery.Set)(nil)
	_ io.ReaderFrom              = (*bloomery.Set)(nil)
	_ io.Closer                  = (*bloomery.Set)(nil)
	_ io.Closer                  = (*bloomery.Builder)(nil)
	_ io.Closer                  = (*bloomery.Live)(nil)
	_ fmt.Formatter              = (*bloomery.Set)(nil)
	_ fmt.Formatter              = bloomery.Config{}
	_ slog.LogValuer             = (*bloomery.Set)(nil)
	_ slog.LogValuer             = bloomery.Config{}
)
