package reals3

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// put writes the object under conditions.
func (p *prober) put(match, none string) error {
	_, err := p.c.PutObject(p.ctx, &api.PutObjectInput{
		Bucket: p.bucket, Key: p.there, Body: strings.NewReader("other"),
		IfMatch: optional(match), IfNoneMatch: optional(none),
	})
	return err
}

func (p *prober) write(name, text string) error {
	_, err := p.c.PutObject(p.ctx, &api.PutObjectInput{
		Bucket: p.bucket, Key: &name, Body: strings.NewReader(text),
	})
	return err
}

func (p *prober) remove(name string) error {
	_, err := p.c.DeleteObject(p.ctx, &api.DeleteObjectInput{Bucket: p.bucket, Key: &name})
	return err
}

func (p *prober) list(prefix string) (names []string, err error) {
	out, err := p.c.ListObjectsV2(p.ctx, &api.ListObjectsV2Input{Bucket: p.bucket, Prefix: &prefix})
	if err != nil {
		return nil, err
	}
	for _, o := range out.Contents {
		names = append(names, aws.ToString(o.Key))
	}
	return names, nil
}

// upload is an upload in parts of the object. Parts are begun, and complete makes the object.
type upload struct {
	p     *prober
	id    *string
	parts []types.CompletedPart
}

func (p *prober) begin(sizes ...int) (*upload, error) {
	made, err := p.c.CreateMultipartUpload(p.ctx, &api.CreateMultipartUploadInput{Bucket: p.bucket, Key: p.there})
	if err != nil {
		return nil, err
	}

	u := &upload{p: p, id: made.UploadId}
	for i, size := range sizes {
		n := aws.Int32(int32(i + 1))
		part, err := p.c.UploadPart(p.ctx, &api.UploadPartInput{
			Bucket: p.bucket, Key: p.there, UploadId: u.id, PartNumber: n, Body: bytes.NewReader(make([]byte, size)),
		})
		if err != nil {
			return nil, errors.Join(err, u.abort())
		}
		u.parts = append(u.parts, types.CompletedPart{ETag: part.ETag, PartNumber: n})
	}
	return u, nil
}

func (u *upload) complete(match, none string) (etag string, err error) {
	out, err := u.p.c.CompleteMultipartUpload(u.p.ctx, &api.CompleteMultipartUploadInput{
		Bucket: u.p.bucket, Key: u.p.there, UploadId: u.id, IfMatch: optional(match), IfNoneMatch: optional(none),
		MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
	})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.ETag), nil
}

// abort removes the parts, if there are any.
func (u *upload) abort() error {
	_, err := u.p.c.AbortMultipartUpload(u.p.ctx, &api.AbortMultipartUploadInput{
		Bucket: u.p.bucket, Key: u.p.there, UploadId: u.id,
	})
	if status(err, http.StatusNotFound) == nil {
		return nil
	}
	return err
}

// parts writes the object in parts, under a condition that does not hold.
func (p *prober) parts(match, none string) error {
	u, err := p.begin(5)
	if err != nil {
		return err
	}
	_, err = u.complete(match, none)
	err = p.refuses(err)
	_ = u.abort() // fails if it is completed
	return err
}

// abortKeeps removes the parts of an upload.
func (p *prober) abortKeeps() error {
	u, err := p.begin(5)
	if err != nil {
		return err
	}
	if err := u.abort(); err != nil {
		return err
	}
	return p.same()
}

// partSums makes an upload in parts with checksums, as the SDK does by default.
func (p *prober) partSums() error {
	made, err := p.c.CreateMultipartUpload(p.ctx, &api.CreateMultipartUploadInput{
		Bucket: p.bucket, Key: p.there, ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	})
	if err != nil {
		return err
	}

	u := &upload{p: p, id: made.UploadId}
	part, err := p.c.UploadPart(p.ctx, &api.UploadPartInput{
		Bucket: p.bucket, Key: p.there, UploadId: u.id, PartNumber: aws.Int32(1), Body: strings.NewReader("part"),
		ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	})
	if err == nil && part.ChecksumCRC32 == nil {
		err = errors.New("no checksum in the answer")
	}
	return errors.Join(err, u.abort())
}

const racers = 8

// race creates the object from several writers at the same moment, with write, or in parts if write is nil.
func (p *prober) race(rounds int, write func() error) error {
	for round := range rounds {
		if err := p.remove(*p.there); err != nil {
			return err
		}
		all := make([]func() error, racers)
		uploads := make([]*upload, racers)
		for i := range all {
			all[i] = write
			if write != nil {
				continue
			}
			u, err := p.begin(2 << 20)
			if err != nil {
				return err
			}
			uploads[i] = u
			all[i] = func() error { _, err := u.complete("", "*"); return err }
		}
		err := together(all)
		for _, u := range uploads {
			if u != nil {
				_ = u.abort() // the winner's is completed
			}
		}
		if err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
	}
	return nil
}

// replaceRace replaces one version from several writers at the same moment.
func (p *prober) replaceRace() error {
	for round := range 20 {
		if err := p.write(*p.there, fmt.Sprint(round)); err != nil {
			return err
		}
		now, err := p.c.HeadObject(p.ctx, &api.HeadObjectInput{Bucket: p.bucket, Key: p.there})
		if err != nil {
			return err
		}
		one := func() error { return p.put(aws.ToString(now.ETag), "") }
		if err := together(slices.Repeat([]func() error{one}, racers)); err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
	}
	return nil
}

// together calls all functions at the same moment and returns nil if exactly one succeeds and the others are refused.
func together(all []func() error) error {
	var wg sync.WaitGroup
	errs, begin := make([]error, len(all)), make(chan struct{})
	for i, f := range all {
		wg.Go(func() { <-begin; errs[i] = f() })
	}

	close(begin)
	wg.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case status(err, http.StatusPreconditionFailed) != nil && status(err, http.StatusConflict) != nil:
			return err
		}
	}
	if won != 1 {
		return fmt.Errorf("%d win", won)
	}
	return nil
}

// pages lists 1,001 objects.
func (p *prober) pages() (err error) {
	const objects = 1001
	err = p.each(objects, func(i int) error { return p.write(fmt.Sprintf("pages/%04d", i), "x") })
	names, err2 := p.list("pages/")
	err = errors.Join(err, err2, p.each(objects, func(i int) error { return p.remove(fmt.Sprintf("pages/%04d", i)) }))
	if err == nil && len(names) != 1000 {
		err = fmt.Errorf("%d objects in an answer", len(names))
	}
	return err
}

// each calls do for 0 to n-1, from several goroutines.
func (p *prober) each(n int, do func(i int) error) error {
	const workers = 8
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n && errs[w] == nil; i += workers {
				errs[w] = do(i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (p *prober) ordered() error {
	want := []string{"order/B", "order/a-1", "order/a.1", "order/a/1", "order/b", "order/é"} // by bytes; a/ is a folder
	for _, name := range want {
		if err := p.write(name, ""); err != nil {
			return err
		}
	}

	got, err := p.list("order/")
	for _, name := range want {
		err = errors.Join(err, p.remove(name))
	}
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("lists %q", got)
	}
	return err
}

func (p *prober) sameETag() error {
	u, err := p.begin(5<<20, 7)
	if err != nil {
		return err
	}

	etag, err := u.complete("", "")
	if err != nil {
		return errors.Join(err, u.abort())
	}

	head, err := p.c.HeadObject(p.ctx, &api.HeadObjectInput{Bucket: p.bucket, Key: p.there})
	if err != nil {
		return err
	}

	out, err := p.c.ListObjectsV2(p.ctx, &api.ListObjectsV2Input{Bucket: p.bucket, Prefix: p.there})
	if err != nil {
		return err
	}
	if len(out.Contents) != 1 || etag != aws.ToString(head.ETag) || etag != aws.ToString(out.Contents[0].ETag) {
		return fmt.Errorf("%s in the answer, %s in HEAD, %d listed", etag, aws.ToString(head.ETag), len(out.Contents))
	}
	return nil
}

// small completes an upload whose first part is too small.
func (p *prober) small() error {
	u, err := p.begin(7, 7)
	if err != nil {
		return err
	}
	_, err = u.complete("", "")
	return errors.Join(status(err, http.StatusBadRequest), u.abort())
}

func (p *prober) uploads() error {
	u, err := p.begin(7)
	if err != nil {
		return err
	}

	out, err := p.c.ListMultipartUploads(p.ctx, &api.ListMultipartUploadsInput{Bucket: p.bucket})
	if err = errors.Join(err, u.abort()); err != nil {
		return err
	}
	if len(out.Uploads) != 1 || aws.ToString(out.Uploads[0].UploadId) != aws.ToString(u.id) {
		return fmt.Errorf("%d uploads are listed", len(out.Uploads))
	}
	return nil
}

// short sends half of a body.
func (p *prober) short() error {
	const name = "short"
	in := &api.PutObjectInput{Bucket: p.bucket, Key: aws.String(name)}
	r, err := api.NewPresignClient(p.c).PresignPutObject(p.ctx, in,
		func(o *api.PresignOptions) {
			o.ClientOptions = append(o.ClientOptions, func(o *api.Options) {
				o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
			})
		})
	if err != nil {
		return err
	}

	u, err := url.Parse(r.URL)
	if err != nil {
		return err
	}

	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		return err
	}

	_, err = fmt.Fprintf(c, "PUT %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 200000\r\n\r\n%s", u.RequestURI(), u.Host,
		strings.Repeat("x", 100_000))
	if err = errors.Join(err, c.Close()); err != nil {
		return err
	}

	for range 20 { // the server may take a while
		time.Sleep(50 * time.Millisecond)
		if names, err := p.list(name); err != nil || len(names) > 0 {
			return errors.Join(fmt.Errorf("makes %q", names), err, p.remove(name))
		}
	}
	return nil
}
