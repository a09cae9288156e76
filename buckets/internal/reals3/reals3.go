// Package reals3 gives tests a bucket in servers of S3 that are not part of this project. It uses nothing of the
// machine that it was not told to use:
//
//   - -server NAME or BLOOMERY_S3_SERVER names a server that runs during the test: moto, s3proxy, s3mock, or several
//     with commas, or all. The two in Java need -long, Java 17 and Maven; their jars are loaded once (87 MB).
//   - -moto PATH or BLOOMERY_MOTO names a moto_server, or a Python that has moto. It implies -server moto.
//   - -s3 URL or BLOOMERY_S3 names the endpoint of a running server, with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
//     AWS_REGION if it needs them. The test creates a bucket there and removes it.
//
// Without all, the test is skipped, and the reason says how to install servers.
//
// Measure tells what a server does as S3 does. No server throttles requests, breaks answers off or is slow: the proxy
// in front of them makes the first two, and loses answers. These are not tested: 409 ConditionalRequestConflict, which
// S3 returns if an object is removed during a conditional write, policies, quotas, several machines, and failures.
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
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/bloomery/bloomery/buckets/internal/fakes3"
	"github.com/bloomery/bloomery/internal/s3servers"
)

var (
	long   = flag.Bool("long", false, "also test against the servers in Java that -server names")
	server = flag.String("server", os.Getenv("BLOOMERY_S3_SERVER"),
		"also test against these servers of S3: moto, s3proxy, s3mock, several with commas, or all")
	moto = flag.String("moto", os.Getenv("BLOOMERY_MOTO"),
		"also test against this moto_server, or against the moto of this python")
	endpoint = flag.String("s3", os.Getenv("BLOOMERY_S3"), "also test against the server of S3 at this URL")
)

const install = "NOT RUN against a real server of S3. With Java 17 and Maven: go test -long -server s3proxy,s3mock. " +
	"With Python: python3 -m venv DIR && DIR/bin/pip install 'moto[server]', then go test -moto DIR/bin/moto_server"

// Other is the Name of the server of -s3.
const Other = "url"

// Server is an empty bucket of a server, behind a proxy that counts requests and makes faults.
type Server struct {
	Name   string // one of s3servers.Names, or Other
	Bucket string
	Client *api.Client // of the server, without the proxy
	proxy  *httptest.Server
	at     string // URL of the endpoint
	region string
	write  sync.Mutex

	mu     sync.Mutex
	single bool   // one write at a time passes
	query  string // more parameters of Address
	fault  func(w http.ResponseWriter, r *http.Request) bool
	cut    func(r *http.Request) int
	lose   func(r *http.Request) bool
	count  map[string]int
}

// Each runs test as a subtest for each server that was named. It skips those that this machine cannot run, and says
// why.
func Each(t *testing.T, test func(t *testing.T, s *Server)) {
	names := strings.FieldsFunc(*server, func(r rune) bool { return r == ',' })
	switch {
	case *server == "all":
		names = s3servers.Names
	case *server == "" && *moto != "":
		names = []string{s3servers.Moto}
	}
	if *endpoint != "" {
		names = append(slices.Clone(names), Other)
	}
	if len(names) == 0 {
		t.Skip(install)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) { test(t, start(t, name)) })
	}
}

// start returns a bucket that is removed at the end of the test, and sets credentials for the SDK.
func start(t *testing.T, name string) *Server {
	s := &Server{
		Name: name, Bucket: fmt.Sprintf("bloomery-test-%d", time.Now().UnixNano()),
		region: s3servers.Region, count: map[string]int{},
	}
	key, secret := s3servers.Key, s3servers.Secret
	s.at = *endpoint
	if name == Other {
		for to, variable := range map[*string]string{
			&s.region: "AWS_REGION", &key: "AWS_ACCESS_KEY_ID", &secret: "AWS_SECRET_ACCESS_KEY",
		} {
			if v := os.Getenv(variable); v != "" {
				*to = v
			}
		}
	} else {
		if name != s3servers.Moto && !*long {
			t.Skip("NOT RUN against " + name + ": add -long")
		}
		if lacks := s3servers.Lacking(name, *moto); lacks != "" {
			t.Skip("NOT RUN against " + name + ": " + lacks)
		}
		begin := time.Now()
		running, err := s3servers.Start(t.Context(), name, s3servers.Options{
			Dir: t.TempDir(), Bucket: s.Bucket, Moto: *moto, Note: func(text string) { t.Log(text) },
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			running.Stop()
			if t.Failed() {
				text := running.Log()
				t.Logf("the log of %s ends with: %s", name, text[max(0, len(text)-2000):])
			}
		})
		t.Logf("%s runs after %v", name, time.Since(begin))
		s.at = running.URL
	}
	u, err := url.Parse(s.at)
	if err != nil || u.Host == "" {
		t.Fatalf("-s3 %q is not the URL of an endpoint: %v", s.at, err)
	}
	fakes3.Credentials(t, key, secret)
	s.proxy = httptest.NewServer(s.handler(u))
	t.Cleanup(s.proxy.Close)
	s.Client = s.client(s.at, key, secret)
	if name == Other {
		if _, err := s.Client.CreateBucket(t.Context(), &api.CreateBucketInput{Bucket: &s.Bucket}); err != nil {
			t.Fatalf("a bucket for the test: %v", err)
		}
		t.Cleanup(func() { s.remove(t) })
	}
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

// Single lets one write at a time pass the proxy, for a server that compares first and writes later, without a lock.
func (s *Server) Single() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.single = true
}

// ChecksumsWhenRequired lets the clients of Address send no checksums, for a server that requires those of parts but
// does not tell them.
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

// remove removes the bucket of a server that goes on running.
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
