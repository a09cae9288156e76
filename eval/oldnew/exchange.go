package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// exchange compares two versions. It is not safe for concurrent use.
type exchange struct {
	ctx      context.Context
	dir      string // temporary folder
	root     string // folder of the checkout
	old, new version
	lines    map[string]int // number of lines of each input
	report   report
}

// answer is what a command printed.
type answer struct {
	command string
	stdout  []byte
	code    int
	stderr  string
	keys    int // number of keys that the command read
}

// refusal matches the errors of a version that cannot read what a newer one has written.
var refusal = regexp.MustCompile(`newer (version of )?(B|b)loomery`)

// refused reports whether the command has refused a file of a newer version.
func (a answer) refused() bool { return a.code == 2 && refusal.MatchString(a.stderr) }

// failure returns the error of a command in one line.
func (a answer) failure() string {
	return fmt.Sprintf("%s: exit code %d: %s", a.command, a.code, strings.Join(strings.Fields(a.stderr), " "))
}

// Every line of a script is a command without the program's name. The words below stand before it.
const (
	quietly = "run" // the output may differ; the exit code is 0
	all     = "all" // the output is the last input: all of its keys are present
)

// patience is the longest time of a command.
const patience = 10 * time.Minute

// play runs a script of a version in a folder. It returns an answer for each line. With stop it ends after a line that
// failed, because later lines need its files.
func (t *trial) play(v version, folder, script string, stop bool) (answers []answer, err error) {
	// States and plans have paths of folders: every script runs at the same path.
	work := filepath.Join(t.dir, "work")
	if err := os.Rename(folder, work); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.Rename(work, folder)) }()

	for line := range strings.Lines(strings.TrimSpace(script)) {
		words := strings.Fields(line)
		how := words[0]
		if how == quietly || how == all {
			words = words[1:]
		}
		a, err := t.runCommand(v, work, words)
		if err != nil {
			return nil, err
		}
		last := filepath.Base(words[len(words)-1])
		switch {
		case how == quietly:
			a.stdout = nil
		case how == all && a.code != 2:
			want, err := os.ReadFile(t.input(last))
			if err != nil {
				return nil, err
			}
			if !bytes.Equal(a.stdout, want) {
				a.code, a.stderr = -1, fmt.Sprintf("A FALSE NEGATIVE: %d bytes of %d", len(a.stdout), len(want))
			}
		}
		answers = append(answers, a)
		if stop && a.code != 0 {
			break
		}
	}
	return answers, nil
}

// runCommand runs a command in a folder.
func (x *exchange) runCommand(v version, folder string, words []string) (a answer, err error) {
	args := make([]string, len(words))
	for i, word := range words {
		args[i] = word
		if name, is := strings.CutPrefix(word, "IN/"); is {
			args[i] = x.input(name)
			a.keys += x.lines[name]
		} else if name, is := strings.CutPrefix(word, "REPO/"); is {
			args[i] = filepath.Join(x.root, filepath.FromSlash(name))
		}
	}

	ctx, cancel := context.WithTimeout(x.ctx, patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, v.path, args...)
	c.Dir, c.Stdout, c.Stderr = folder, &stdout, &stderr
	c.Env = append(os.Environ(), "TZ=UTC")
	err = c.Run()
	if ctx.Err() != nil {
		return a, fmt.Errorf("%s: %w", strings.Join(words, " "), context.Cause(ctx))
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return a, err
	}
	a.command, a.stdout, a.stderr = strings.Join(words, " "), stdout.Bytes(), stderr.String()
	a.code = c.ProcessState.ExitCode()
	return a, nil
}

// try exchanges the files of a kind.
func (x *exchange) try(k kind) error {
	dir, err := os.MkdirTemp(x.dir, "kind-")
	if err != nil {
		return err
	}
	t := &trial{exchange: x, kind: k, dir: dir, result: result{Kind: k.name}}
	for _, side := range []*side{&t.older, &t.newer} {
		side.made = filepath.Join(dir, "made-by-old")
		side.version = x.old
		if side == &t.newer {
			side.made, side.version = filepath.Join(dir, "made-by-new"), x.new
		}
		if err := t.make(side); err != nil {
			return err
		}
	}
	if err := t.compare(); err != nil {
		return err
	}
	x.report.add(t.result)
	return os.RemoveAll(dir)
}

// trial is the exchange of the files of one kind.
type trial struct {
	*exchange
	kind         kind
	dir          string
	older, newer side
	copies       int
	result       result
}

// side is a version in a trial.
type side struct {
	version version
	made    string   // folder of the files that it made
	lacks   string   // why it could not make them
	answers []answer // its own answers for them
}

// make makes the files of a kind, and queries them.
func (t *trial) make(s *side) error {
	if err := os.Mkdir(s.made, 0o700); err != nil {
		return err
	}
	done, err := t.play(s.version, s.made, t.kind.make, true)
	if err != nil {
		return err
	}
	if last := done[len(done)-1]; last.code != 0 {
		s.lacks = last.failure()
		return nil
	}
	s.answers, err = t.ask(s, s.made, t.kind.ask)
	for _, a := range s.answers {
		if a.code != 0 && a.code != 1 {
			t.fault("a version cannot read its own file: %s", a.failure())
		}
	}
	return err
}

// ask runs a script that queries files, in a copy of their folder, so that it may write.
func (t *trial) ask(s *side, folder, script string) ([]answer, error) {
	folder, err := t.copyOf(folder)
	if err != nil {
		return nil, err
	}
	answers, err := t.play(s.version, folder, script, false)
	return answers, errors.Join(err, os.RemoveAll(folder))
}

// copyOf copies a folder with the modes of its files: publish and follow look at the modes of keys and folders.
func (t *trial) copyOf(folder string) (string, error) {
	t.copies++
	to := filepath.Join(t.dir, fmt.Sprint("copy-", t.copies))
	return to, filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name := filepath.Join(to, strings.TrimPrefix(path, folder))
		if e.IsDir() {
			return os.Mkdir(name, info.Mode().Perm())
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(name, b, info.Mode().Perm())
	})
}

// compare compares the versions in both directions.
func (t *trial) compare() error {
	switch {
	case t.newer.lacks != "":
		t.fault("the newer version cannot make the files: %s", t.newer.lacks)
		return nil
	case t.older.lacks != "":
		t.result.OnlyNew = t.older.lacks
	default:
		if err := t.compareBytes(); err != nil {
			return err
		}
		if err := t.exchangeFrom(&t.older, &t.newer, &t.result.OldToNew, false); err != nil {
			return err
		}
	}
	return t.exchangeFrom(&t.newer, &t.older, &t.result.NewToOld, true)
}

// exchangeFrom compares answers of both versions for the files of one of them. mayRefuse is true if the other one is
// older, and may refuse a file of a newer version.
func (t *trial) exchangeFrom(from, to *side, d *direction, mayRefuse bool) error {
	answers, err := t.ask(to, from.made, t.kind.ask)
	if err != nil {
		return err
	}
	t.same(d, mayRefuse, from.answers, answers)
	if t.kind.change == "" || d.Refused != "" || d.Differ > 0 {
		return nil
	}
	if from == &t.newer && t.older.lacks != "" {
		return nil // the older version lacks a command or flag that changes the files, too
	}

	// Both versions take turns. The same turns by the first version alone give what is expected.
	var turns [2][]answer
	for i, second := range []*side{from, to} {
		folder, err := t.copyOf(from.made)
		if err != nil {
			return err
		}

		for j, script := range []string{t.kind.change, t.kind.again} {
			by := []*side{second, from}[j]
			done, err := t.play(by.version, folder, script, false)
			if err != nil {
				return err
			}
			for _, a := range done {
				if a.code != 0 && a.code != 1 {
					t.fault("turn %d of files of %s, by %s: %s", j+2, from.version.path, by.version.path, a.failure())
				}
			}
			turns[i] = append(turns[i], done...)
		}
		for _, by := range []*side{from, to} {
			done, err := t.ask(by, folder, t.kind.ask+"\n"+t.kind.after)
			if err != nil {
				return err
			}
			turns[i] = append(turns[i], done...)
		}
	}
	d.Turns = 3
	t.same(d, false, turns[0], turns[1])
	return nil
}

// same compares answers with those that are wanted.
func (t *trial) same(d *direction, mayRefuse bool, want, got []answer) {
	for i, w := range want {
		if i >= len(got) {
			t.fault("%s: no answer", w.command)
			d.Differ++
			break
		}
		g := got[i]
		d.Commands++
		d.Answers += g.keys
		switch {
		case g.refused() && mayRefuse:
			d.Refused = strings.Join(strings.Fields(g.stderr), " ")
			d.Answers -= g.keys
		case g.code != w.code:
			d.Differ++
			t.fault("%s; want exit code %d", g.failure(), w.code)
		case !bytes.Equal(g.stdout, w.stdout):
			d.Differ++
			t.fault("%s: other output: %s", g.command, firstDifference(w.stdout, g.stdout))
		}
	}
}

// firstDifference describes the first line that differs.
func firstDifference(want, got []byte) string {
	w, g := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range min(len(w), len(g)) {
		if !bytes.Equal(w[i], g[i]) {
			return fmt.Sprintf("line %d is %.60q, want %.60q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// compareBytes compares the files that both versions made of the same keys.
func (t *trial) compareBytes() error {
	older, err := sumsOf(t.older.made)
	if err != nil {
		return err
	}
	newer, err := sumsOf(t.newer.made)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(older)) {
		switch {
		case t.kind.dated != nil && t.kind.dated.MatchString(name):
			t.result.Dated++
		case older[name] == newer[name]:
			t.result.EqualFiles++
		default:
			t.result.OtherFiles = append(t.result.OtherFiles, name)
		}
		delete(newer, name)
	}
	for _, name := range slices.Sorted(maps.Keys(newer)) {
		if t.kind.dated == nil || !t.kind.dated.MatchString(name) {
			t.result.OtherFiles = append(t.result.OtherFiles, name+" (only from the newer version)")
		}
	}
	return nil
}

// sumsOf returns the SHA-256 of each file in a folder, by the path in the folder.
func sumsOf(folder string) (map[string][32]byte, error) {
	sums := map[string][32]byte{}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		sums[filepath.ToSlash(name)] = sha256.Sum256(b)
		return err
	})
	return sums, err
}

// fault records a fault.
func (t *trial) fault(format string, args ...any) {
	t.result.Faults = append(t.result.Faults, fmt.Sprintf(format, args...))
}
