package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/eval/child"
)

// version is a built command.
type version struct {
	path string // file of the command
	name string // commit, tag or file, and what the command prints as its version
}

// finish returns the version at a path, with the words that name it.
func finish(ctx context.Context, path, name string) (version, error) {
	says, err := outputOf(ctx, path, "--version")
	return version{path, name + " (" + says + ")"}, err
}

// build returns the command of a commit, in a folder. If the name is empty, it builds the files of the checkout. A
// version that is a file was built already.
func build(ctx context.Context, root, name, dir, as string, notes io.Writer) (version, error) {
	out := filepath.Join(dir, as+child.Exe())
	source := root
	switch {
	case name == "":
		name = "checkout"
	case isProgram(name):
		path, err := filepath.Abs(name)
		if err != nil {
			return version{}, err
		}
		return finish(ctx, path, name)
	default:
		commit, err := outputOf(ctx, "git", "-C", root, "rev-parse", "--verify", "--short", name+"^{commit}")
		if err != nil {
			return version{}, fmt.Errorf("no commit %q: %w", name, err)
		}
		source = filepath.Join(dir, as+".source")
		if err := archive(ctx, root, commit, source); err != nil {
			return version{}, err
		}
		if name != commit {
			name += ", commit " + commit
		}
	}

	// Without paths in the binary, the build cache also knows packages of other folders.
	c := child.Command(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", out, "./cmd/bloomery")
	c.Env = append(os.Environ(), "GOWORK=off")
	if err := child.Run(c, source, notes, io.Discard); err != nil {
		return version{}, err
	}
	return finish(ctx, out, name)
}

// archive writes the files of a commit to a new folder.
func archive(ctx context.Context, root, commit, folder string) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	tar := folder + ".tar"
	if _, err := outputOf(ctx, "git", "-C", root, "archive", "--format=tar", "--output", tar, commit); err != nil {
		return err
	}
	_, err := outputOf(ctx, "tar", "-x", "-f", tar, "-C", folder)
	return err
}

// candidates makes two releases of HEAD in a clone by .ci/tag, and installs their commands with an empty module cache,
// as users do.
func candidates(ctx context.Context, root, dir string, notes io.Writer) (older, newer version, err error) {
	clone := filepath.Join(dir, "clone")
	if _, err = outputOf(ctx, "git", "clone", "--quiet", "--no-tags", root, clone); err != nil {
		return older, newer, err
	}
	for _, setting := range [][2]string{{"user.name", "oldnew"}, {"user.email", "oldnew@localhost"}} {
		if _, err = outputOf(ctx, "git", "-C", clone, "config", setting[0], setting[1]); err != nil {
			return older, newer, err
		}
	}
	if _, err = outputOf(ctx, "git", "-C", clone, "checkout", "--quiet", "-B", "main"); err != nil {
		return older, newer, err // a clone of a checkout without a branch has none
	}
	now, err := os.ReadFile(filepath.Join(clone, "internal", "cli", "VERSION"))
	if err != nil {
		return older, newer, err
	}
	first, second, err := nextCandidates(strings.TrimSpace(string(now)))
	if err != nil {
		return older, newer, err
	}

	installed := make([]version, 2)
	for i, text := range []string{first, second} {
		if err = prepare(ctx, clone, text); err != nil {
			return older, newer, err
		}
		tag := child.Command(ctx, "bash", ".ci/tag", text, "--write")
		if err = child.Run(tag, clone, notes, io.Discard); err != nil {
			return older, newer, err
		}
		if installed[i], err = install(ctx, clone, text, dir, notes); err != nil {
			return older, newer, err
		}
	}
	return installed[0], installed[1], nil
}

// prepare commits what .ci/tag wants in a clone before a release: a key that signs, and an entry in both changelogs.
func prepare(ctx context.Context, clone, text string) error {
	change := func(name string, edit func(text string) string) error {
		path := filepath.Join(clone, filepath.FromSlash(name))
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(edit(string(b))), 0o666)
	}
	err := change(".github/allowed_signers", func(old string) string {
		if !strings.Contains(old, "PLACEHOLDER") {
			return old
		}
		return `bloomery,oldnew@localhost namespaces="file" ssh-ed25519 AAAA` + "\n"
	})
	if err != nil {
		return err
	}

	const heading = "## Unreleased\n"
	for _, name := range []string{"CHANGELOG.md", "js/CHANGELOG.md"} {
		err := change(name, func(old string) string {
			if !strings.Contains(old, heading) {
				old = strings.Replace(old, "\n## ", "\n"+heading+"\n## ", 1)
			}
			return strings.Replace(old, heading, heading+"\n- "+text+"\n", 1)
		})
		if err != nil {
			return err
		}
	}
	_, err = outputOf(ctx, "git", "-C", clone, "commit", "--quiet", "--all", "--message", "before "+text)
	return err
}

// install installs the command of a release of a clone, with an empty module cache. Other modules come from the module
// cache of the machine, as from a proxy.
func install(ctx context.Context, clone, text, dir string, notes io.Writer) (v version, err error) {
	module, err := outputOf(ctx, "go", "-C", clone, "list", "-m")
	if err != nil {
		return v, err
	}
	cache, err := outputOf(ctx, "go", "env", "GOMODCACHE")
	if err != nil {
		return v, err
	}
	proxy, err := outputOf(ctx, "go", "env", "GOPROXY")
	if err != nil {
		return v, err
	}

	bin := filepath.Join(dir, text)
	c := child.Command(ctx, "go", "install", "-trimpath", module+"/cmd/bloomery@v"+text)
	c.Env = append(os.Environ(), "GOBIN="+bin, "GOMODCACHE="+filepath.Join(bin, "cache"), "GOWORK=off",
		"GOFLAGS=-modcacherw "+os.Getenv("GOFLAGS"), "GOPRIVATE="+module,
		"GOPROXY=file://"+filepath.ToSlash(cache)+"/cache/download,"+proxy, "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url.file://"+filepath.ToSlash(clone)+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+module)
	if err := child.Run(c, dir, notes, io.Discard); err != nil {
		return v, err
	}
	return finish(ctx, filepath.Join(bin, "bloomery"+child.Exe()), "v"+text)
}

var versionText = regexp.MustCompile(`^(\d+\.\d+\.)(\d+)(?:-dev|-rc\.(\d+))?$`)

// nextCandidates returns the two release candidates after a version: rc.1 and rc.2 of 1.0.0-dev, the next ones of a
// candidate, and rc.1 and rc.2 of the patch after a release.
func nextCandidates(now string) (first, second string, err error) {
	m := versionText.FindStringSubmatch(now)
	if m == nil {
		return "", "", fmt.Errorf("%q in internal/cli/VERSION is not a version", now)
	}
	patch, err := strconv.Atoi(m[2])
	if err != nil {
		return "", "", err
	}
	last := 0
	if m[3] != "" {
		if last, err = strconv.Atoi(m[3]); err != nil {
			return "", "", err
		}
	} else if !strings.HasSuffix(now, "-dev") {
		patch++
	}
	return fmt.Sprintf("%s%d-rc.%d", m[1], patch, last+1), fmt.Sprintf("%s%d-rc.%d", m[1], patch, last+2), nil
}
