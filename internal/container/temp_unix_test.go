//go:build unix

package container

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// holdEnv names the file that a process started by TestAbandoned writes until its standard input ends.
const holdEnv = "BLOOMERY_TEST_HOLD"

// startHolding starts a process that is in the middle of writing path.
func startHolding(t *testing.T, path string) (cmd *exec.Cmd, finish io.Closer) {
	t.Helper()
	cmd = exec.Command(os.Args[0], "-test.run=^TestAbandoned$")
	cmd.Env = append(os.Environ(), holdEnv+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Start()
	skipEmulated(t, err)
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "writing\n" {
		t.Fatalf("the writer said %q: %v", line, err)
	}
	return cmd, in
}

// TestAbandoned writes a file after another writer was killed and while a third one is still writing. The temporary
// file of the killed writer must be removed. The file of the running writer and other files must remain.
func TestAbandoned(t *testing.T) {
	if path := os.Getenv(holdEnv); path != "" {
		err := WriteAtomic(t.Context(), path, func(w io.Writer) error {
			_, _ = io.WriteString(w, strings.Repeat("living", 1<<12))
			fmt.Println("writing")
			_, _ = io.Copy(io.Discard, os.Stdin)
			return nil
		})
		fmt.Println(err)
		os.Exit(0)
	}
	if !canLock {
		t.Skip("this system has no locks: temporary files stay")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f.bloom")
	beside := filepath.Join(dir, ".f.bloom.tmp-0123456789abcdeX") // not a name of our temporary files
	if err := os.WriteFile(beside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	killed, _ := startHolding(t, path)
	living, finish := startHolding(t, path)
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	if left := entries(t, dir); len(left) != 3 {
		t.Fatalf("%q, want two temporary files", left)
	}
	if err := WriteAtomic(t.Context(), path, half("new", nil)); err != nil {
		t.Fatal(err)
	}
	if left := entries(t, dir); len(left) != 3 {
		t.Errorf("%q, want the file and the temporary file of the living writer", left)
	}
	_ = finish.Close()
	if err := living.Wait(); err != nil {
		t.Errorf("the living writer: %v", err)
	}
	if left := entries(t, dir); len(left) != 2 {
		t.Errorf("%q is left", left)
	}
	if text, err := os.ReadFile(path); !strings.HasPrefix(string(text), "living") {
		t.Errorf("the file of the last writer is not there: %.10q, %v", text, err)
	}
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// TestMayWrite checks that MayWrite leaves no files.
func TestMayWrite(t *testing.T) {
	dir := t.TempDir()
	if err := MayWrite(filepath.Join(dir, "f")); err != nil || len(entries(t, dir)) > 0 {
		t.Errorf("%v, %q", err, entries(t, dir))
	}
	none := filepath.Join(dir, "none")
	if err := MayWrite(filepath.Join(none, "f")); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "folder "+none+":") {
		t.Errorf("%v", err)
	}
}

// TestMayWriteAbandoned checks that MayWrite removes the file of a killed MayWrite and no other file.
func TestMayWriteAbandoned(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "object")
	for _, name := range []string{".object.tmp-0123456789abcdef", ".other.tmp-0123456789abcdef"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := MayWrite(path); err != nil {
		t.Fatal(err)
	}
	if left := entries(t, dir); len(left) != 1 || left[0] != ".other.tmp-0123456789abcdef" {
		t.Errorf("%q is left", left)
	}
}
