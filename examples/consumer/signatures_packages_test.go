package main

import (
	"context"
	"crypto/x509"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/distribute"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/interop"
	"github.com/bloomery/bloomery/interop/clubcard"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/publish"
	"github.com/bloomery/bloomery/publish/transport"
	"github.com/bloomery/bloomery/shard"
	"github.com/bloomery/bloomery/tablefilter"
	"github.com/bloomery/bloomery/window"
)

// The methods for printing, encoding and errors are omitted.

var (
	_ func(filter.HashID) (filter.Hasher, error) = filter.ForeignHasher
	_ func(uint64) filter.Hasher                 = filter.NewHasher
	_ func(filter.Secret) filter.Hasher          = filter.NewKeyedHasher
	_ func() *filter.Secret                      = filter.NewSecret
	_ func(filter.Hasher, string) filter.Hash    = filter.SumOf[string]
	_ func(string) (filter.Spec, error)          = filter.ParseSpec
	_ func(string) (filter.KeyForm, error)       = filter.ParseKeyForm
)

var (
	_ interface {
		ID() filter.HashID
		KeyCheck() uint64
		Seed() uint64
		Sum([]byte) filter.Hash
		SumString(string) filter.Hash
		SumUint64(uint64) filter.Hash
		SumUint64s([]filter.Hash, []uint64)
		Form() filter.KeyForm
		WithForm(filter.KeyForm) (filter.Hasher, error)
	} = filter.Hasher{}
	_ interface {
		AppendText([]byte, string) ([]byte, error)
		AppendUint64([]byte, uint64) ([]byte, error)
	} = filter.KeyForm{}
	_ interface {
		BitsPerKey() float64
		Exceeded() bool
		ValuesOnly() bool
	} = filter.Info{}
	_ interface {
		Family() string
		Param(string) (string, bool)
		Params() []filter.Param
		With(string, any) filter.Spec
	} = filter.Spec{}
)

var (
	_ func(ctx, plan.Needs) (plan.Plan, error) = plan.For
	_ func(filter.Spec, uint64) plan.Row       = plan.Forecast
)

var (
	_ func(ctx, text, text, exact.Config) (*exact.Set, error) = exact.Build[text, text]
	_ func([]byte, ...exact.Option) (*exact.Set, error)       = exact.FromBytes
	_ func(exact.Config) (*exact.Builder, error)              = exact.NewBuilder
	_ func(ctx, string, ...exact.Option) (*exact.Set, error)  = exact.Open
	_ func(ctx, string, ...exact.Option) (*exact.Live, error) = exact.OpenLive
	_ func(io.Reader, ...exact.Option) (*exact.Set, error)    = exact.Read
	_ func(time.Duration) exact.Option                        = exact.WithInterval
	_ func(uint64) exact.Option                               = exact.WithMaxBytes
	_ func(*filter.Secret) exact.Option                       = exact.WithSecret
)

var (
	_ interface {
		AddMembers([][]byte, ...[]byte) error
		AddUniverse([][]byte, ...[]byte) error
		Build(context.Context) (*exact.Set, error)
		Close() error
	} = (*exact.Builder)(nil)
	_ interface {
		Close() error
		Err() error
		Reload(context.Context) error
		Set() *exact.Set
	} = (*exact.Live)(nil)
	_ interface {
		Name([][]byte, ...[]byte)
	} = (*exact.OutsideError)(nil)
	_ interface {
		Contains([]byte, ...[]byte) bool
		ContainsMany([]bool, [][]byte, ...[]byte)
		Info() exact.Info
		NewVerifier(exact.Config) *exact.Verifier
		Save(context.Context, string) error
		WriteTo(io.Writer) (int64, error)
	} = (*exact.Set)(nil)
	_ interface {
		AddMembers([][]byte, ...[]byte) error
		AddUniverse([][]byte, ...[]byte) error
		Close() error
		Commit(context.Context) (exact.Verification, error)
	} = (*exact.Verifier)(nil)
)

var (
	_ func(ctx, string, []publish.PublicKey, func(int, int)) (publish.Checked, error) = publish.Check
	_ func(ctx, string) (publish.PublicKey, error)                                    = publish.CreateKey
	_ func(ctx, string, string, ...publish.FollowOption) (*bloomery.Live, error)      = publish.Follow
	_ func(ctx, string, string, ...publish.FollowOption) (*exact.Live, error)         = publish.FollowExact
	_ func(string, string, ...publish.FollowOption) (*publish.Follower, error)        = publish.NewFollower
	_ func() (publish.PrivateKey, error)                                              = publish.NewKey
	_ func(func(publish.Event)) publish.FollowOption                                  = publish.OnEvent
	_ func(func(int64, int64)) publish.FollowOption                                   = publish.OnProgress
	_ func(string) (publish.PrivateKey, error)                                        = publish.ParsePrivateKey
	_ func(string) (publish.PublicKey, error)                                         = publish.ParsePublicKey
	_ func([]byte) (*publish.Release, error)                                          = publish.ParseRelease
	_ func(ctx, string, string, publish.Options) (publish.Report, error)              = publish.Publish
	_ func(ctx, string) (publish.PrivateKey, error)                                   = publish.ReadPrivateKey
	_ func(ctx, string) (publish.PublicKey, error)                                    = publish.ReadPublicKey
	_ func([]byte, ...publish.PublicKey) (publish.PublicKey, error)                   = publish.Verify
	_ func() publish.FollowOption                                                     = publish.WithForeign
	_ func() publish.FollowOption                                                     = publish.WithInsecure
	_ func(time.Duration) publish.FollowOption                                        = publish.WithInterval
	_ func(...publish.PublicKey) publish.FollowOption                                 = publish.WithKeys
	_ func(uint64) publish.FollowOption                                               = publish.WithMaxBytes
	_ func(string) publish.FollowOption                                               = publish.WithName
	_ func(...bloomery.Option) publish.FollowOption                                   = publish.WithOpen
	_ func(*filter.Secret) publish.FollowOption                                       = publish.WithSecret
	_ func(transport.Source) publish.FollowOption                                     = publish.WithSource
	_ func(transport.Config) publish.FollowOption                                     = publish.WithTransport
)

var (
	_ interface {
		Poll(context.Context) (publish.Event, error)
		Run(context.Context) error
	} = (*publish.Follower)(nil)
	_ interface {
		Public() publish.PublicKey
		Text() string
	} = publish.PrivateKey{}
	_ interface {
		ID() string
	} = publish.PublicKey{}
)

var (
	_ func(string, transport.Config) (transport.Source, error) = transport.Open
)

var (
	_ interface {
		Get(context.Context, string, transport.Request) (*transport.Object, error)
	} = *new(transport.Folder)
)

var (
	_ func(io.Reader) (*shard.Manifest, error) = shard.ReadManifest
	_ func(filter.Hash, int) int               = shard.Route
	_ func(string) (int, int, bool)            = shard.ParseName
)

var (
	_ interface {
		Blocks(int, []byte) (*shard.Blocks, error)
		Bytes() uint64
		CheckBlocks() error
		FPR() (float64, float64)
		Hasher(*filter.Secret) (filter.Hasher, error)
		ID() string
		Keys() uint64
		WriteTo(io.Writer) (int64, error)
	} = (*shard.Manifest)(nil)
	_ interface {
		Block(filter.Hash) (int64, int)
		Contains([]byte, filter.Hash) bool
	} = (*shard.Blocks)(nil)
)

var (
	_ func(ctx, string, string) ([]byte, error)              = delta.DiffFiles
	_ func(ctx, string, []byte, string, delta.Options) error = delta.PatchFile
	_ func([]byte) (delta.Info, error)                       = delta.Read
)

var (
	_ func(string) distribute.Store                                                      = distribute.Dir
	_ func(ctx, distribute.Store, []string, distribute.Config) (*distribute.Plan, error) = distribute.NewPlan
	_ func(ctx, distribute.Store, string) (*distribute.Plan, error)                      = distribute.ReadPlan
)

var (
	_ interface {
		Build(context.Context, distribute.Store, int, distribute.Options) (shard.Entry, error)
		Finish(context.Context, distribute.Store, distribute.Options) (*shard.Manifest, error)
		Gather(context.Context, distribute.Store, distribute.Options) (uint64, error)
		Range(context.Context, distribute.Store, distribute.Store, int, distribute.Options) (uint64, error)
		Save(context.Context, distribute.Store) error
	} = (*distribute.Plan)(nil)
)

var (
	_ func(*bloomery.Set) (iter.Seq2[int64, []byte], error)                              = interop.Chunks
	_ func(io.ReaderAt, int64) ([]interop.Column, error)                                 = interop.Columns
	_ func(io.ReaderAt, int64) (interop.Format, error)                                   = interop.Detect
	_ func(*bloomery.Set) (interop.Format, bool)                                         = interop.FormatOf
	_ func() []interop.Format                                                            = interop.Formats
	_ func(io.ReaderAt) bool                                                             = interop.HasCommands
	_ func(*bloomery.Set, string, string, sender) error                                  = interop.LoadRedis
	_ func([]byte) uint64                                                                = interop.MaxSize
	_ func(io.Reader, interop.Format, uint64, ...bloomery.Option) (*bloomery.Set, error) = interop.Read
	_ func(io.Reader, interop.Format, filter.KeyForm, uint64, ...bloomery.Option) (
		*bloomery.Set, error) = interop.ReadAs
	_ func(io.Writer, *bloomery.Set, interop.Format) error = interop.Write
	_ func(io.Writer, *bloomery.Set, string) error         = interop.WriteCommands
)

var (
	_ func(*x509.Certificate, *x509.Certificate) (clubcard.Certificate, error) = clubcard.CertificateOf
	_ func(ctx, fs.FS, clubcard.Certificate) (clubcard.Status, error)          = clubcard.CheckDir
	_ func([]byte) (*clubcard.Filter, error)                                   = clubcard.Read
)

var (
	_ interface {
		Check(clubcard.Certificate) clubcard.Status
		Coverage() []clubcard.Coverage
		Info() clubcard.Info
	} = (*clubcard.Filter)(nil)
)

var (
	_ func(window.Config) (*window.Filter[string], error)      = window.New[string]
	_ func(window.Config) (*window.Filter[[]byte], error)      = window.New[[]byte]
	_ func(window.Config) (*window.Filter[uint64], error)      = window.New[uint64]
	_ func(window.Config) (*window.Filter[filter.Hash], error) = window.New[filter.Hash]

	_ func(ctx, string, window.Config) (*window.Filter[string], error) = window.Open[string]
	_ func(io.Reader, window.Config) (*window.Filter[string], error)   = window.Read[string]
	_ func(ctx, string) (func(), error)                                = window.Lock
)

var (
	_ interface {
		Add(string) error
		AddMany([]string) (int, error)
		Advance(time.Time)
		Contains(string) bool
		ContainsMany([]bool, []string)
		Info() window.Info
		Len() uint64
		MarshalBinary() ([]byte, error)
		Save(context.Context, string) error
		TestAndAdd(string) (bool, error)
		TestAndAddMany([]bool, []string) (int, error)
		WriteTo(io.Writer) (int64, error)
	} = (*window.Filter[string])(nil)
)

var _ = window.Config{
	Keys: 1, TTL: time.Hour, FPR: window.DefaultFPR, Burst: 0.5, Overflow: window.Shorten, Refresh: true, EventTime: true,
	Clock: time.Now, Secret: filter.NewSecret(),
}

var (
	_ func([]byte) bool                         = tablefilter.HasFilter
	_ func([]byte, []byte) bool                 = tablefilter.MayContain
	_ func(string) (*tablefilter.Policy, error) = tablefilter.New
	_ func(string) (*tablefilter.Policy, error) = tablefilter.Parse
)

var (
	_ interface {
		Name() string
		NewWriter() *tablefilter.Writer
	} = (*tablefilter.Policy)(nil)
	_ interface {
		Add([]byte)
		Finish([]byte) []byte
	} = (*tablefilter.Writer)(nil)
)
