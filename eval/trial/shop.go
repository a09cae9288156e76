package main

import (
	"bytes"
	"context"
	"embed"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bloomery/bloomery/eval/child"
)

// programs are the sources of the programs of the systems, and of the common code for each language.
//
//go:embed java guava rust rust-parquet clubcard python parquet-mr redisbloom spark xorf parquet-python pyfusefilter
var programs embed.FS

// shop builds the programs of the systems in a persistent folder.
type shop struct {
	ctx   context.Context
	cache string
	notes io.Writer
}

// unpack writes sources to a folder of the cache and returns the folder. Existing files with the same contents keep
// their times, so that a build recompiles only changed files.
func (s shop) unpack(sources ...string) (folder string, err error) {
	folder = filepath.Join(s.cache, sources[len(sources)-1])
	for _, source := range sources {
		err := fs.WalkDir(programs, source, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			want, err := programs.ReadFile(path)
			if err != nil {
				return err
			}
			to := filepath.Join(folder, strings.TrimPrefix(path, source+"/"))
			if have, err := os.ReadFile(to); err == nil && bytes.Equal(have, want) {
				return nil
			}
			if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
				return err
			}
			return os.WriteFile(to, want, 0o666)
		})
		if err != nil {
			return "", err
		}
	}
	return folder, nil
}

// tool runs a tool in a folder. The error contains the end of its output.
func (s shop) tool(folder string, args ...string) error {
	return child.Run(child.Command(s.ctx, args...), folder, s.notes, io.Discard)
}

// java builds the program of a system with Maven and returns its command line. The class is trial.Main.
func (s shop) java(name string, flags ...string) ([]string, error) {
	folder, err := s.unpack("java", name)
	if err != nil {
		return nil, err
	}
	return child.Maven(s.ctx, folder, "trial.Main", s.notes, flags...)
}

// rust builds the program of a system with Cargo and returns its command line.
func (s shop) rust(name string) ([]string, error) {
	folder, err := s.unpack("rust", name)
	if err != nil {
		return nil, err
	}
	path, err := child.Cargo(s.ctx, folder, "trial", s.notes, io.Discard)
	return []string{path}, err
}

// python makes an environment with the packages of a system's requirements.txt. It returns the folder of the system,
// whose folder env contains the environment, and the interpreter.
func (s shop) python(name string) (folder, inEnv string, err error) {
	python, err := exec.LookPath("python3")
	if err != nil {
		return "", "", child.LackError("it needs python3 in PATH")
	}
	if folder, err = s.unpack("python", name); err != nil {
		return "", "", err
	}
	want, err := programs.ReadFile(name + "/requirements.txt")
	if err != nil {
		return "", "", err
	}
	env, done := filepath.Join(folder, "env"), filepath.Join(folder, "installed.txt")
	inEnv = filepath.Join(env, "bin", "python")
	if runtime.GOOS == "windows" {
		inEnv = filepath.Join(env, "Scripts", "python.exe")
	}
	if have, err := os.ReadFile(done); err != nil || !bytes.Equal(have, want) {
		if err := s.tool(folder, python, "-m", "venv", "--clear", env); err != nil {
			return "", "", err
		}
		if err := s.tool(folder, inEnv, "-m", "pip", "install", "--quiet", "-r", "requirements.txt"); err != nil {
			return "", "", err
		}
		if err := os.WriteFile(done, want, 0o666); err != nil {
			return "", "", err
		}
	}
	return folder, inEnv, nil
}
