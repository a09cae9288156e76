// Package s3servers starts servers of S3 that are not part of this project, for the tests of buckets and beam: moto from
// PyPI, S3Proxy and Adobe S3Mock from Maven. No Docker is needed. Each server is one process with one empty bucket, on
// a free port of the loopback interface.
//
// S3Mock also opens a second port with the same contents on all interfaces, which cannot be disabled, and does not
// check signatures. Every machine that can connect to the port can therefore read and change the data of the test.
//
// The package uses only the standard library. The program in the folder run starts servers for tests of other modules.
package s3servers

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/bloomery/bloomery/eval/mavenjars"
)

// The servers.
const (
	Moto    = "moto"    // the version that is installed
	S3Proxy = "s3proxy" // 4.1, with its back end filesystem-nio2; the only one that checks signatures
	S3Mock  = "s3mock"  // 5.2
)

// Names are the names of all servers.
var Names = []string{Moto, S3Proxy, S3Mock}

// Settings for clients of these servers.
const (
	Region = "us-east-1"
	Key    = "key"
	Secret = "secret"
)

const (
	startTimeout = 90 * time.Second
	stopTimeout  = 10 * time.Second
)

var (
	//go:embed s3proxy.xml
	s3proxyProject []byte
	//go:embed s3mock.xml
	s3mockProject []byte
	//go:embed logback.xml
	logback []byte
)

// kind describes how to start a server.
type kind struct {
	command func(ctx context.Context, o Options) (*exec.Cmd, error)
	address *regexp.Regexp // HOST:PORT or the port in a line of its log; no server accepts requests before this line
	create  bool           // the bucket is made by a request
}

var kinds = map[string]kind{
	Moto:    {motoCommand, regexp.MustCompile(`Running on http://(127\.0\.0\.1:\d+)`), true},
	S3Proxy: {s3proxyCommand, regexp.MustCompile(`AbstractConnector Started .*\{(127\.0\.0\.1:\d+)\}`), false},
	S3Mock:  {s3mockCommand, regexp.MustCompile(`Tomcat started on ports (\d+) \(http\)`), false},
}

// Lacking returns a sentence that names the requirements of Start that this machine lacks, or "". moto is as in
// Options.
func Lacking(name, moto string) string {
	if name != Moto {
		return mavenjars.Lacking("the server of S3 "+name, 17, 0)
	}
	if moto == "" {
		return "moto is not named. Install it: python3 -m venv DIR && DIR/bin/pip install 'moto[server]', " +
			"then give -moto DIR/bin/moto_server"
	}
	return ""
}

// Server is a running server.
type Server struct {
	URL    string // URL of the endpoint
	Bucket string
	log    string
	cmd    *exec.Cmd
	over   chan struct{} // closed when it has ended
}

// Options describe the server to start.
type Options struct {
	Dir    string       // an empty folder, for the objects and the log
	Bucket string       // name of the bucket
	Moto   string       // path of moto_server, or of a Python that has moto; only for Moto
	Note   func(string) // if not nil, called with a description of each long step
}

// Start starts the server with the given name and an empty bucket, and returns when the server accepts requests. Jars
// are downloaded once: see package mavenjars.
func Start(ctx context.Context, name string, o Options) (s *Server, err error) {
	k, ok := kinds[name]
	if !ok {
		return nil, fmt.Errorf("no server of S3 %q: want one of %s", name, strings.Join(Names, ", "))
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	cmd, err := k.command(ctx, o)
	if err != nil {
		return nil, err
	}
	s = &Server{Bucket: o.Bucket, log: filepath.Join(o.Dir, "server.log"), cmd: cmd, over: make(chan struct{})}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Dir, cmd.Stdout, cmd.Stderr = o.Dir, log, log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the server of S3 %s: %w", name, err)
	}
	go func() {
		_ = cmd.Wait() // the log shows the cause
		close(s.over)
	}()
	if err = s.wait(ctx, k.address); err == nil && k.create {
		err = s.create(ctx)
	}
	if err != nil {
		s.Stop()
		return nil, fmt.Errorf("the server of S3 %s: %w", name, err)
	}
	return s, nil
}

// wait waits until the log contains the address, and sets the URL.
func (s *Server) wait(ctx context.Context, address *regexp.Regexp) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		if m := address.FindStringSubmatch(s.Log()); m != nil {
			s.URL = "http://" + m[1]
			if !strings.Contains(m[1], ":") {
				s.URL = "http://127.0.0.1:" + m[1]
			}
			return nil
		}
		select {
		case <-s.over:
			return fmt.Errorf("it ended: %s", s.end())
		case <-ctx.Done():
			return fmt.Errorf("it does not listen: %w: %s", context.Cause(ctx), s.end())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// create creates the bucket of a server that does not check signatures.
func (s *Server) create(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, s.URL+"/"+s.Bucket, nil)
	if err != nil {
		return err
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return errors.New("a new bucket: " + a.Status)
	}
	return nil
}

// Log returns the log of the server.
func (s *Server) Log() string {
	b, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// end returns the end of the log.
func (s *Server) end() string {
	text := strings.TrimSpace(s.Log())
	return text[max(0, len(text)-1000):]
}

// Stop ends the server and returns when it has ended.
func (s *Server) Stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	select {
	case <-s.over:
	case <-time.After(stopTimeout):
		_ = s.cmd.Process.Kill()
		<-s.over
	}
}

func motoCommand(_ context.Context, o Options) (*exec.Cmd, error) {
	path, err := exec.LookPath(o.Moto)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, fmt.Errorf("moto: %w", err)
	}
	args := []string{"-H", "127.0.0.1", "-p", "0"}
	if strings.HasPrefix(filepath.Base(path), "python") {
		args = append([]string{"-m", "moto.server"}, args...)
	}
	return exec.Command(path, args...), nil
}

// java returns the command that runs a class of the jars of a project.
func java(ctx context.Context, o Options, folder string, project []byte, args ...string) (*exec.Cmd, error) {
	jars, err := mavenjars.Load(ctx, folder, project, o.Note)
	if err != nil {
		return nil, err
	}
	return exec.Command(mavenjars.Java(), append([]string{"-Xmx384m", "-cp", filepath.Join(jars, "*")}, args...)...), nil
}

// s3proxyCommand returns the command of an S3Proxy that stores the objects as files, in one folder per bucket.
func s3proxyCommand(ctx context.Context, o Options) (*exec.Cmd, error) {
	objects := filepath.Join(o.Dir, "objects")
	if err := os.MkdirAll(filepath.Join(objects, o.Bucket), 0o777); err != nil {
		return nil, err
	}
	options := strings.Join([]string{
		"s3proxy.endpoint=http://127.0.0.1:0",
		"s3proxy.authorization=aws-v2-or-v4",
		"s3proxy.identity=" + Key,
		"s3proxy.credential=" + Secret,
		"jclouds.provider=filesystem-nio2",
		"jclouds.identity=" + Key,
		"jclouds.credential=" + Secret,
		"jclouds.filesystem.basedir=" + filepath.ToSlash(objects),
	}, "\n")
	for name, text := range map[string][]byte{"s3proxy.properties": []byte(options), "logback.xml": logback} {
		if err := os.WriteFile(filepath.Join(o.Dir, name), text, 0o666); err != nil {
			return nil, err
		}
	}
	return java(ctx, o, "s3proxy-4.1.0", s3proxyProject, "-Dlogback.configurationFile=logback.xml",
		"org.gaul.s3proxy.Main", "--properties", "s3proxy.properties")
}

func s3mockCommand(ctx context.Context, o Options) (*exec.Cmd, error) {
	objects := filepath.Join(o.Dir, "objects")
	if err := os.MkdirAll(objects, 0o777); err != nil {
		return nil, err
	}
	const store = "--com.adobe.testing.s3mock.store."
	return java(ctx, o, "s3mock-5.2.0", s3mockProject, "com.adobe.testing.s3mock.S3MockApplication",
		"--server.ssl.enabled=false", "--server.address=127.0.0.1", "--server.port=0", "--http.port=0",
		"--spring.main.banner-mode=off", store+"root="+objects, store+"initial-buckets="+o.Bucket)
}
