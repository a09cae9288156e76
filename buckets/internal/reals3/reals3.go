// Package reals3 gives tests a bucket in a server of S3 that is not part of this project. -s3 URL or BLOOMERY_S3 names
// the endpoint of a running server, with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION if it needs them. The
// test creates a bucket there and removes it. Without an endpoint the test is skipped. The program eval/s3servers/run
// starts servers and runs these tests against them.
//
// Measure reports which behaviours of S3 a server has. The servers never throttle requests or break answers off, so a
// proxy in front of them does, and also loses answers. The tests do not cover slow answers, 409
// ConditionalRequestConflict, which S3 returns if an object is removed during a conditional write, policies, quotas,
// several machines, and failures.
package reals3

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/bloomery/bloomery/buckets/internal/fakes3"
)

var (
	endpoint = flag.String("s3", os.Getenv("BLOOMERY_S3"), "also test against the server of S3 at this URL")
	name     = flag.String("s3-name", os.Getenv("BLOOMERY_S3_NAME"),
		"which server -s3 is, to compare it with its column in README.md: moto, s3proxy or s3mock")
)

const install = "NOT RUN against a real server of S3. In the folder eval: " +
	"go run ./s3servers/run -server s3proxy,s3mock go -C ../buckets test ./s3 -run TestReal"

// Server is an empty bucket of a server, behind a proxy that counts requests and injects faults.
type Server struct {
	Name   string // -s3-name
	Bucket string
	Client *api.Client // client of the server, without the proxy
	proxy  *httptest.Server
	at     string // URL of the endpoint
	region string
	key    string // the access key
	write  sync.Mutex

	mu     sync.Mutex
	single bool   // one write at a time passes
	query  string // more parameters of Address
	fault  func(w http.ResponseWriter, r *http.Request) bool
	cut    func(r *http.Request) int
	lose   func(r *http.Request) bool
	count  map[string]int
}

// New returns a bucket of the server that the flags name, until the end of the test, and sets credentials for the SDK.
// It skips the test if the flags name no server.
func New(t *testing.T) *Server {
	t.Helper()
	if *endpoint == "" {
		t.Skip(install)
	}

	s := &Server{
		Name: *name, Bucket: fmt.Sprintf("bloomery-test-%d", time.Now().UnixNano()),
		at: *endpoint, region: "us-east-1", count: map[string]int{},
	}

	key, secret := "key", "secret"
	for to, variable := range map[*string]string{
		&s.region: "AWS_REGION", &key: "AWS_ACCESS_KEY_ID", &secret: "AWS_SECRET_ACCESS_KEY",
	} {
		if v := os.Getenv(variable); v != "" {
			*to = v
		}
	}

	u, err := url.Parse(s.at)
	if err != nil || u.Host == "" {
		t.Fatalf("-s3 %q is not the URL of an endpoint: %v", s.at, err)
	}

	fakes3.Credentials(t, key, secret)
	s.proxy = httptest.NewServer(s.handler(u))
	t.Cleanup(s.proxy.Close)
	s.Client, s.key = s.client(s.at, key, secret), key

	if _, err := s.Client.CreateBucket(t.Context(), &api.CreateBucketInput{Bucket: &s.Bucket}); err != nil {
		t.Fatalf("a bucket for the test: %v", err)
	}
	t.Cleanup(func() { s.remove(t) })
	return s
}

// client returns a client of an endpoint, without the settings of the machine.
func (s *Server) client(endpoint, key, secret string) *api.Client {
	return api.New(api.Options{
		BaseEndpoint: aws.String(endpoint), UsePathStyle: true, Region: s.region,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: key, SecretAccessKey: secret}, nil
		}),
	})
}

// Single makes the proxy forward only one write at a time, for a server that compares first and writes later without a
// lock.
func (s *Server) Single() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.single = true
}

// ChecksumsWhenRequired makes the clients of Address send no checksums, for a server that requires the checksums of
// parts but does not tell them.
func (s *Server) ChecksumsWhenRequired() { s.query += "&request_checksum_calculation=when_required" }

var errLost = errors.New("the answer is lost")

func (s *Server) handler(to *url.URL) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // it is part of the signature
		},
		ModifyResponse: func(r *http.Response) error {
			s.mu.Lock()
			cut, lose := s.cut, s.lose
			s.mu.Unlock()
			if lose != nil && lose(r.Request) {
				return errLost
			}
			if cut != nil && r.Request.Method == "GET" && r.StatusCode < 300 && !r.Request.URL.Query().Has("list-type") {
				if n := cut(r.Request); n >= 0 {
					r.Body = &short{r.Body, n}
				}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if errors.Is(err, errLost) {
				panic(http.ErrAbortHandler) // closes the connection
			}
			w.WriteHeader(http.StatusBadGateway)
		},
		FlushInterval: -1, // bytes before a cut must arrive
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, q := r.Method, r.URL.Query()
		if q.Has("list-type") {
			method = "LIST"
		}
		s.mu.Lock()
		s.count[method]++
		fault, single := s.fault, s.single
		s.mu.Unlock()
		if fault != nil && fault(w, r) {
			return
		}
		if single && (r.Method == "PUT" || r.Method == "POST") && !q.Has("partNumber") && !q.Has("uploads") {
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
	return "s3://" + s.Bucket + "/" + prefix + "?region=" + s.region + "&use_path_style=true&endpoint=" + s.proxy.URL +
		s.query
}

// Fault sets functions that see every request: fault may answer it and return true, and cut returns the number of bytes
// after which the body of an object breaks off, or a negative number. Both may be nil.
func (s *Server) Fault(fault func(w http.ResponseWriter, r *http.Request) bool, cut func(r *http.Request) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.cut = fault, cut
}

// Lose sets a function that sees every answer of the server, by its request, and returns true if it is lost: the
// connection breaks. It may be nil.
func (s *Server) Lose(lose func(r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lose = lose
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

// Abort removes the parts of all uploads.
func (s *Server) Abort(t testing.TB) {
	t.Helper()
	all, err := s.Client.ListMultipartUploads(t.Context(), &api.ListMultipartUploadsInput{Bucket: &s.Bucket})
	if err != nil {
		t.Fatal(err)
	}

	for _, u := range all.Uploads {
		_, err := s.Client.AbortMultipartUpload(t.Context(), &api.AbortMultipartUploadInput{
			Bucket: &s.Bucket, Key: u.Key, UploadId: u.UploadId,
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// remove removes the bucket of a server that continues to run.
func (s *Server) remove(t testing.TB) {
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
