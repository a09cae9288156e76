package s3servers

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestStartFails checks that errors name the servers, and contain the log of a server that ends.
func TestStartFails(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the imitation of moto is a shell script")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "moto_server")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho no such option\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"minio": "moto, s3proxy, s3mock", Moto: "it ended: no such option"} {
		s, err := Start(t.Context(), name, Options{Dir: dir, Bucket: "bucket", Moto: path})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if s != nil {
			t.Errorf("%s: a server", name)
		}
	}
	o := Options{Dir: dir, Bucket: "bucket", Moto: filepath.Join(dir, "none")}
	if _, err := Start(t.Context(), Moto, o); err == nil {
		t.Error("a program that is not there was started")
	}
}

// TestLacking checks that the message tells how to get the missing servers.
func TestLacking(t *testing.T) {
	t.Setenv("JAVA_HOME", "")
	t.Setenv("PATH", t.TempDir())
	for name, want := range map[string]string{Moto: "pip install", S3Proxy: "s3proxy needs Java 17", S3Mock: "Maven"} {
		if got := Lacking(name, ""); !strings.Contains(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := Lacking(Moto, "moto_server"); got != "" {
		t.Error(got)
	}
}
