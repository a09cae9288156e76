// Package reals3 gives tests a bucket in a server of S3 that is not part of this project. It uses nothing of the
// machine that it was not told to use:
//
//   - -moto PATH or BLOOMERY_MOTO names a moto_server, or a Python that has moto. The server runs during the test, on a
//     free port of loopback.
//   - -s3 URL or BLOOMERY_S3 names the endpoint of a running server, with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
//     AWS_REGION if it needs them. The test creates a bucket there and removes it.
//
// Without both, the test is skipped, and the reason says how to install moto.
//
// No test can show what moto 5.2 does not imitate:
//
//   - throttling (503 SlowDown), answers that break off, and slow answers. The proxy in front of the server makes the
//     first two.
//   - If-Match in the completion of an upload in parts: moto ignores it. See ObeysIfMatch.
//   - a comparison and a write in one step: moto compares first and writes later, without a lock. Of three uploads in
//     parts with If-None-Match that are completed at the same moment all three win. So the proxy passes one write at a
//     time to a moto that the test starts, and every request at once to the server of -s3.
//   - 409 ConditionalRequestConflict, which S3 returns if an object is removed during a conditional write.
//   - signatures, policies, quotas, several machines and failures: moto allows every request, and is one process.
package reals3

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/bloomery/bloomery/buckets/internal/fakes3"
)

var (
	moto = flag.String("moto", os.Getenv("BLOOMERY_MOTO"),
		"also test against this moto_server, or against the moto of this python")
	endpoint = flag.String("s3", os.Getenv("BLOOMERY_S3"), "also test against the server of S3 at this URL")
)

const install = "NOT RUN against a real server of S3. Install one: python3 -m venv DIR && " +
	"DIR/bin/pip install 'moto[server]', then go test -moto DIR/bin/moto_server"

// Server is an empty bucket of a server, behind a proxy that counts requests and makes faults.
type Server struct {
	Bucket string
	Client *api.Client // of the server, without the proxy
	proxy  *httptest.Server
	region string
	moto   bool
	write  sync.Mutex // one write at a time passes to moto

	mu    sync.Mutex
	fault func(w http.ResponseWriter, r *http.Request) bool
	cut   func(r *http.Request) int
	count map[string]int
}

// New returns a bucket that is removed at the end of the test, and sets credentials for the SDK. It skips the test if
// no server is named.
func New(t *testing.T) *Server {
	t.Helper()
	at := *endpoint
	switch {
	case at != "":
	case *moto != "":
		at = start(t, *moto)
	default:
		t.Skip(install)
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		t.Fatalf("-s3 %q is not the URL of an endpoint: %v", at, err)
	}
	variable := func(name, otherwise string) string {
		if v := os.Getenv(name); v != "" && *endpoint != "" {
			return v
		}
		return otherwise
	}
	s := &Server{
		Bucket: fmt.Sprintf("bloomery-test-%d", time.Now().UnixNano()),
		region: variable("AWS_REGION", "us-east-1"), moto: *endpoint == "", count: map[string]int{},
	}
	key, secret := variable("AWS_ACCESS_KEY_ID", "key"), variable("AWS_SECRET_ACCESS_KEY", "secret")
	fakes3.Credentials(t, key, secret)
	s.proxy = httptest.NewServer(s.handler(u))
	t.Cleanup(s.proxy.Close)
	s.Client = api.New(api.Options{
		BaseEndpoint: aws.String(at), UsePathStyle: true, Region: s.region,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: key, SecretAccessKey: secret}, nil
		}),
	})
	if _, err := s.Client.CreateBucket(t.Context(), &api.CreateBucketInput{Bucket: &s.Bucket}); err != nil {
		t.Fatalf("a bucket for the test: %v", err)
	}
	t.Cleanup(func() { s.remove(t) })
	return s
}

// start starts moto on a free port, which it prints.
func start(t *testing.T, path string) string {
	args := []string{"-H", "127.0.0.1", "-p", "0"}
	if strings.HasPrefix(filepath.Base(path), "python") {
		args = append([]string{"-m", "moto.server"}, args...)
	}
	cmd := exec.Command(path, args...)
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	cmd.Stdout, cmd.Stderr = to, to
	if err := cmd.Start(); err != nil {
		t.Fatalf("-moto: %v", err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); wg.Wait(); _ = from.Close() })
	running := regexp.MustCompile(`Running on (http://127\.0\.0\.1:\d+)`)
	found, said := make(chan string, 1), new(strings.Builder)
	wg.Go(func() {
		defer close(found)
		lines, sent := bufio.NewScanner(from), false
		for lines.Scan() {
			if m := running.FindStringSubmatch(lines.Text()); m != nil && !sent {
				found <- m[1]
				sent = true
			} else if !sent {
				fmt.Fprintln(said, lines.Text())
			}
		}
	})
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	select {
	case address, ok := <-found:
		if !ok {
			t.Fatalf("-moto %s: it ended: %s", path, said)
		}
		return address
	case <-late.C:
		t.Fatalf("-moto %s: no server after a minute", path)
	}
	return ""
}

func (s *Server) handler(to *url.URL) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // it is part of the signature
		},
		ModifyResponse: func(r *http.Response) error {
			s.mu.Lock()
			cut := s.cut
			s.mu.Unlock()
			if cut != nil && r.Request.Method == "GET" && r.StatusCode < 300 && !r.Request.URL.Query().Has("list-type") {
				if n := cut(r.Request); n >= 0 {
					r.Body = &short{r.Body, n}
				}
			}
			return nil
		},
		FlushInterval: -1, // what comes before a cut arrives
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, q := r.Method, r.URL.Query()
		if q.Has("list-type") {
			method = "LIST"
		}
		s.mu.Lock()
		s.count[method]++
		fault := s.fault
		s.mu.Unlock()
		if fault != nil && fault(w, r) {
			return
		}
		if s.moto && (r.Method == "PUT" || r.Method == "POST") && !q.Has("partNumber") && !q.Has("uploads") {
			s.write.Lock()
			defer s.write.Unlock()
		}
		proxy.ServeHTTP(w, r)
	})
}

// short is a body that breaks off.
type short struct {
	io.ReadCloser
	left int
}

func (s *short) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := s.ReadCloser.Read(p[:min(len(p), s.left)])
	s.left -= n
	return n, err
}

// Address returns the URL of a prefix for buckets.OpenStore.
func (s *Server) Address(prefix string) string {
	return "s3://" + s.Bucket + "/" + prefix + "?region=" + s.region + "&use_path_style=true&endpoint=" + s.proxy.URL
}

// Fault sets functions that see every request: fault may answer it and return true, and cut returns the number of bytes
// after which the body of an object breaks off, or a negative number. Both may be nil.
func (s *Server) Fault(fault func(w http.ResponseWriter, r *http.Request) bool, cut func(r *http.Request) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.cut = fault, cut
}

// Counts returns the number of requests by method, LIST among them, and begins to count again.
func (s *Server) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.count
	s.count = map[string]int{}
	return n
}

// Uploads returns the names of the objects whose upload in parts was neither completed nor aborted.
func (s *Server) Uploads(t testing.TB) (names []string) {
	t.Helper()
	all, err := s.Client.ListMultipartUploads(t.Context(), &api.ListMultipartUploadsInput{Bucket: &s.Bucket})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range all.Uploads {
		names = append(names, aws.ToString(u.Key))
	}
	return names
}

// ObeysIfMatch reports whether the completion of an upload in parts obeys If-Match, as in S3.
func (s *Server) ObeysIfMatch(t testing.TB) bool {
	t.Helper()
	ctx, name := t.Context(), aws.String("probe of If-Match")
	made, err := s.Client.CreateMultipartUpload(ctx, &api.CreateMultipartUploadInput{Bucket: &s.Bucket, Key: name})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Client.PutObject(ctx, &api.PutObjectInput{Bucket: &s.Bucket, Key: name, Body: bytes.NewReader(nil)})
	if err != nil {
		t.Fatal(err)
	}
	part, err := s.Client.UploadPart(ctx, &api.UploadPartInput{
		Bucket: &s.Bucket, Key: name, UploadId: made.UploadId, PartNumber: aws.Int32(1), Body: strings.NewReader("new"),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Client.CompleteMultipartUpload(ctx, &api.CompleteMultipartUploadInput{
		Bucket: &s.Bucket, Key: name, UploadId: made.UploadId, IfMatch: aws.String(`"00000000000000000000000000000000"`),
		MultipartUpload: &types.CompletedMultipartUpload{
			Parts: []types.CompletedPart{{ETag: part.ETag, PartNumber: aws.Int32(1)}},
		},
	})
	_, _ = s.Client.AbortMultipartUpload(ctx, &api.AbortMultipartUploadInput{
		Bucket: &s.Bucket, Key: name, UploadId: made.UploadId,
	})
	_, err2 := s.Client.DeleteObject(ctx, &api.DeleteObjectInput{Bucket: &s.Bucket, Key: name})
	if err2 != nil {
		t.Fatal(err2)
	}
	return err != nil
}

// remove removes the bucket of a server that goes on running.
func (s *Server) remove(t testing.TB) {
	if s.moto {
		return
	}
	ctx := context.Background()
	pages := api.NewListObjectsV2Paginator(s.Client, &api.ListObjectsV2Input{Bucket: &s.Bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		for _, o := range page.Contents {
			_, err := s.Client.DeleteObject(ctx, &api.DeleteObjectInput{Bucket: &s.Bucket, Key: o.Key})
			if err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := s.Client.DeleteBucket(ctx, &api.DeleteBucketInput{Bucket: &s.Bucket}); err != nil {
		t.Error(err)
	}
}
