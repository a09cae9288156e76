package clusters

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLacking(t *testing.T) {
	t.Setenv("JAVA_HOME", "")
	t.Setenv("PATH", t.TempDir())
	if text := Lacking(); !strings.Contains(text, "Java 17") || !strings.Contains(text, "PATH") {
		t.Errorf("without Java: %q", text)
	}
	_, err := Start(t.Context(), Config{Engine: Flink, Dir: t.TempDir(), Workers: 1})
	if err == nil || !strings.Contains(err.Error(), "Java 17") {
		t.Errorf("start without Java: %v", err)
	}
}

func TestConfigErrors(t *testing.T) {
	for want, c := range map[string]Config{
		"want flink or spark": {Engine: "storm", Workers: 1},
		"want 1 to 100":       {Engine: Spark},
	} {
		if _, err := Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestLoad stops the daemons of a state file. A process that has the number of a daemon by chance must not be stopped.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("no state: %v", err)
	}
	script := filepath.Join(dir, "daemon.sh")
	if err := os.WriteFile(script, []byte("sleep 60\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	ours := &Daemon{Name: "ours", Dir: filepath.Join(dir, "ours"), LogFile: filepath.Join(dir, "log")}
	ours.Command = []string{"sh", script, "-Dbloomery.daemon=" + ours.Dir, "end"}
	if err := os.Mkdir(ours.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := ours.start(); err != nil {
		t.Skipf("no shell: %v", err)
	}
	stranger := exec.Command("sleep", "60")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stranger.Process.Kill()
		_ = stranger.Wait()
	}()
	other := &Daemon{Name: "stranger", PID: stranger.Process.Pid, Dir: "x"}
	c := &Cluster{Engine: Flink, Dir: dir, Daemons: []*Daemon{ours, other}}
	if err := c.save(); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !loaded.Daemons[0].Runs() || loaded.Daemons[1].Runs() {
		t.Errorf("daemons: %+v %+v", loaded.Daemons[0], loaded.Daemons[1])
	}
	if _, err := loaded.Daemon("other"); err == nil || !strings.Contains(err.Error(), "ours, stranger") {
		t.Errorf("unknown name: %v", err)
	}
	if err := loaded.Remove(); err != nil {
		t.Fatal(err)
	}
	if ours.Runs() || signal(stranger.Process.Pid, 0) != nil {
		t.Error("the daemon runs on, or the stranger was stopped")
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
}

// TestKillChildren kills the child of a daemon. The daemon must continue to run.
func TestKillChildren(t *testing.T) {
	dir := t.TempDir()
	d := &Daemon{Name: "parent", Dir: dir, LogFile: filepath.Join(dir, "log")}
	d.Command = []string{"sh", "-c", "sleep 60; echo killed; read forever < wait"}
	if err := exec.Command("mkfifo", filepath.Join(dir, "wait")).Run(); err != nil {
		t.Skipf("no pipes: %v", err)
	}
	if err := d.start(); err != nil {
		t.Skipf("no shell: %v", err)
	}
	defer d.Kill()
	for end := time.Now().Add(time.Minute); !strings.Contains(d.Log(), "killed"); time.Sleep(10 * time.Millisecond) {
		if _, err := d.KillChildren(); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatal("the child was not killed")
		}
	}
	if n, err := d.KillChildren(); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
	if !d.Runs() {
		t.Error("the daemon does not run")
	}
}
