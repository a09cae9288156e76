package reals3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	api "github.com/aws/aws-sdk-go-v2/service/s3"
)

// A Behaviour describes a behaviour of S3 in words.
type Behaviour string

// The behaviours that Measure tests.
const (
	CreatesOnce      Behaviour = "`PUT` obeys `If-None-Match`"
	Replaces         Behaviour = "`PUT` obeys `If-Match`"
	CreatesPartsOnce Behaviour = "an upload in parts obeys `If-None-Match`"
	ReplacesParts    Behaviour = "an upload in parts obeys `If-Match`"
	Atomic           Behaviour = "of 8 `PUT` with `If-None-Match` at the same moment one wins"
	AtomicReplace    Behaviour = "of 8 `PUT` with `If-Match` at the same moment one wins"
	AtomicParts      Behaviour = "of 8 uploads in parts with `If-None-Match` at the same moment one wins"
	Pins             Behaviour = "`GET` obeys `If-Match`"
	RefusesRange     Behaviour = "a range behind the end: 416"
	Pages            Behaviour = "a listing has 1,000 objects an answer"
	Ordered          Behaviour = "a listing is ordered by the bytes of the names"
	AbortKeeps       Behaviour = "removing the parts of an upload leaves the object of this name"
	PartSums         Behaviour = "the answer to a part has the checksum of the part"
	SameETag         Behaviour = "upload in parts: one ETag in answer, `HEAD` and listing"
	FileAndFolder    Behaviour = "objects `a` and `a/b` at the same time"
	NoFolders        Behaviour = "nothing is listed after the last object below `a/` was removed"
	ChecksSum        Behaviour = "refuses a body with another checksum"
	RefusesShort     Behaviour = "a body that breaks off makes no object"
	CompletesTwice   Behaviour = "a completion that is repeated, because its answer was lost, succeeds"
	RefusesSmall     Behaviour = "refuses parts below 5 MiB, except the last"
	ListsUploads     Behaviour = "lists uploads in parts that are not completed"
	ChecksSignature  Behaviour = "refuses a wrong signature"
)

// probes are in the order of the table in README.md. A probe returns an error that describes what the server does
// instead.
var probes = []struct {
	Behaviour
	do func(*prober) error
}{
	{CreatesOnce, func(p *prober) error { return p.refuses(p.put("", "*")) }},
	{Replaces, func(p *prober) error { return p.refuses(p.put(wrongETag, "")) }},
	{CreatesPartsOnce, func(p *prober) error { return p.parts("", "*") }},
	{ReplacesParts, func(p *prober) error { return p.parts(wrongETag, "") }},
	{Atomic, func(p *prober) error { return p.race(20, func() error { return p.put("", "*") }) }},
	{AtomicReplace, (*prober).replaceRace},
	{AtomicParts, func(p *prober) error { return p.race(5, nil) }},
	{AbortKeeps, (*prober).abortKeeps},
	{PartSums, (*prober).partSums},
	{Pins, func(p *prober) error {
		_, err := p.c.GetObject(p.ctx, &api.GetObjectInput{Bucket: p.bucket, Key: p.there, IfMatch: aws.String(wrongETag)})
		return status(err, http.StatusPreconditionFailed)
	}},
	{RefusesRange, func(p *prober) error {
		_, err := p.c.GetObject(p.ctx, &api.GetObjectInput{Bucket: p.bucket, Key: p.there, Range: aws.String("bytes=9-10")})
		return status(err, http.StatusRequestedRangeNotSatisfiable)
	}},
	{Pages, (*prober).pages},
	{Ordered, (*prober).ordered},
	{SameETag, (*prober).sameETag},
	{FileAndFolder, func(p *prober) error {
		return errors.Join(p.write("folder", "file"), p.write("folder/b", "file"), p.remove("folder/b"), p.remove("folder"))
	}},
	{NoFolders, func(p *prober) error {
		if err := errors.Join(p.write("deep/a/b", "file"), p.remove("deep/a/b")); err != nil {
			return err
		}
		names, err := p.list("deep")
		if err == nil && len(names) > 0 {
			err = fmt.Errorf("lists %q", names)
		}
		return err
	}},
	{ChecksSum, func(p *prober) error {
		_, err := p.c.PutObject(p.ctx, &api.PutObjectInput{
			Bucket: p.bucket, Key: aws.String("sum"), Body: strings.NewReader("text"), ChecksumCRC32: aws.String("AAAAAA=="),
		})
		return errors.Join(status(err, http.StatusBadRequest), p.remove("sum"))
	}},
	{RefusesShort, (*prober).short},
	{CompletesTwice, func(p *prober) error {
		u, err := p.begin(5)
		if err == nil {
			_, err = u.complete("", "")
		}
		if err != nil {
			return err
		}
		_, err = u.complete("", "")
		return err
	}},
	{RefusesSmall, (*prober).small},
	{ListsUploads, (*prober).uploads},
	{ChecksSignature, func(p *prober) error {
		c := p.s.client(p.s.at, p.s.key, "another secret")
		_, err := c.ListObjectsV2(p.ctx, &api.ListObjectsV2Input{Bucket: p.bucket})
		return status(err, http.StatusForbidden)
	}},
}

const wrongETag = `"00000000000000000000000000000000"`

// prober sends requests to a bucket that contains an object of 4 bytes.
type prober struct {
	s      *Server
	ctx    context.Context
	c      *api.Client
	bucket *string
	there  *string
}

// Behaviours returns the behaviours that Measure tests, in the order of the table in README.md.
func Behaviours() (all []Behaviour) {
	for _, p := range probes {
		all = append(all, p.Behaviour)
	}
	return all
}

// Races are the behaviours that Measure may report although a server lacks them: a second winner is a matter of chance.
var Races = []Behaviour{Atomic, AtomicReplace, AtomicParts}

// Measure tests each Behaviour of the server, without the proxy, and returns the missing ones, each with what the
// server does instead. It removes the objects that it wrote.
func (s *Server) Measure(t testing.TB) map[Behaviour]error {
	t.Helper()
	p := &prober{s, t.Context(), s.Client, &s.Bucket, aws.String("measured")}
	lacks := map[Behaviour]error{}
	for _, probe := range probes {
		if err := p.write(*p.there, "text"); err != nil {
			t.Fatal(err)
		}
		if err := probe.do(p); err != nil {
			lacks[probe.Behaviour] = err
		}
	}
	if err := p.remove(*p.there); err != nil {
		t.Fatal(err)
	}
	return lacks
}

// status returns nil if err is an answer with this status.
func status(err error, want int) error {
	var answer *awshttp.ResponseError
	switch {
	case err == nil:
		return errors.New("accepted")
	case !errors.As(err, &answer):
		return err
	case answer.HTTPStatusCode() != want:
		return fmt.Errorf("status %d: %w", answer.HTTPStatusCode(), err)
	}
	return nil
}

// refuses returns nil if err is a failed precondition, and the object is as it was.
func (p *prober) refuses(err error) error {
	if err := status(err, http.StatusPreconditionFailed); err != nil {
		return err
	}
	return p.same()
}

// same returns nil if the object is unchanged since Measure wrote it.
func (p *prober) same() error {
	got, err := p.c.GetObject(p.ctx, &api.GetObjectInput{Bucket: p.bucket, Key: p.there})
	if err != nil {
		return err
	}
	defer got.Body.Close()
	if b, err := io.ReadAll(got.Body); err != nil || string(b) != "text" {
		return fmt.Errorf("the object is %q: %w", b, err)
	}
	return nil
}
