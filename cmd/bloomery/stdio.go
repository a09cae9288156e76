package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// stdio is the path that names standard input, or with -o standard output. A file named "-" is ./-.
const stdio = "-"

// takeStdin records that standard input is the filter or exact set of the command.
func (a *app) takeStdin() error {
	if a.stdinTaken {
		return errors.New("- is given for two filters; standard input can hold only one: name files for the others")
	}
	if cli.IsTerminal(a.stdin) {
		return errors.New("-: standard input is a terminal; pipe a filter into it, or name a file")
	}
	a.stdinTaken = true
	return nil
}

// stdinFree returns an error if keys would be read from standard input although it is the filter or exact set.
func (a *app) stdinFree(inputs []string) error {
	if a.stdinTaken && (len(inputs) == 0 || slices.Contains(inputs, stdio)) {
		return errors.New(
			"standard input is the filter or set, so it cannot hold the keys too; name files with the keys")
	}
	return nil
}

// stdoutFree returns an error if standard output goes to the file of an input. An empty list of inputs means standard
// input.
func (a *app) stdoutFree(inputs ...string) error { return cli.NotOutput(a.stdout, a.stdin, inputs...) }

// openOrRead returns the result of open for a file or folder. For a pipe, and for "-" standard input, it returns the
// result of read, or an error when the command is interrupted.
func openOrRead[T any](a *app, path string, open func() (T, error), read func(io.Reader) (T, error)) (t T, err error) {
	if err := a.stdoutFree(path); err != nil {
		return t, err
	}

	name, in := path, a.stdin
	switch {
	case path == stdio:
		if err := a.takeStdin(); err != nil {
			return t, err
		}
		name = "standard input"
	case !isPipe(path):
		return open()
	default:
		f, err := untrusted.OpenStream(a.ctx, path)
		if err != nil {
			return t, err
		}
		defer f.Close()
		in = f
	}

	if t, err = untrusted.Interruptible(a.ctx, func() (T, error) { return read(in) }); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return t, err
}

// readWhole reads a Bloomery filter that must end where r ends.
func readWhole(r io.Reader, o ...bloomery.Option) (*bloomery.Set, error) {
	set, err := bloomery.Read(r, append(o, bloomery.WithMaxBytes(math.MaxInt64))...)
	if err != nil {
		return nil, err
	}
	if n, _ := io.ReadFull(r, make([]byte, 1)); n > 0 {
		end := set.FileInfo().Bytes
		return nil, container.Broken(end, "bytes behind the filter", filter.ErrCorrupt)
	}
	return set, nil
}

// mayWrite returns an error if no filter can be written to path, or for "-" to standard output. Call it before the
// work. If one of the sources is a folder, the output is a folder, too.
func (a *app) mayWrite(path string, sources ...string) error {
	switch {
	case anySharded(sources...):
		return mayReplaceFolder(path)
	case path != stdio:
		return mayReplace(path)
	}
	if err := a.mayWriteStdout(); err != nil || len(sources) == 0 {
		return err
	}
	return a.stdoutFree(sources...)
}

// mayWriteStdout returns an error if no filter can be written to standard output.
func (a *app) mayWriteStdout() error {
	a.stdoutTaken = true
	switch {
	case cli.IsTerminal(a.stdout):
		return errors.New("-o -: standard output is a terminal, and a filter is no text; redirect it, or name a file")
	case a.json:
		return errors.New("-o - and --json would both write to standard output; name a file, or leave out --json")
	}
	return nil
}

// save writes a set to path, all or nothing, or for "-" to standard output.
func (a *app) save(ctx context.Context, set *bloomery.Set, path string) error {
	if path != stdio {
		return set.Save(ctx, path)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err := set.WriteTo(a.stdout)
	return err
}

// mayReplace returns an error if no filter can be written to path. Call it before the work. Only filter files and empty
// files are replaced, so that a mistyped path does not destroy a list of keys.
func mayReplace(path string) error { return mayReplaceIf(path, "filter file", container.HasMagic) }

// mayReplaceIf is mayReplace for files of another kind, whose first bytes the function has recognises.
func mayReplaceIf(path, kind string, has func(io.Reader) bool) error {
	if path == "" {
		return errors.New("name the file to write: -o FILE")
	}

	switch st, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case st.IsDir():
		return fmt.Errorf("%s is a folder; name the file to write in it", path)
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case st.Size() > 0:
		f, _, err := untrusted.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if !has(f) {
			return fmt.Errorf("%s exists and is no %s; remove it first or name another -o", path, kind)
		}
	}
	if err := shardset.CheckFile(path); err != nil {
		return err
	}
	return container.MayWrite(path)
}

// aSet is the reason why a sharded set cannot be a stream.
const aSet = "a sharded set is a folder"

// mayMakeFolder returns an error if a path does not name a folder.
func mayMakeFolder(path string) error {
	if path == "" {
		return errors.New("name the folder to write: -o DIR")
	}
	return cli.NoStdout("-o", aSet, path)
}

// mayReplaceFolder is mayReplace for the folder of a sharded set: it must be new, empty or have a set, even an
// unfinished one whose writer was killed.
func mayReplaceFolder(path string) error {
	if err := mayMakeFolder(path); err != nil {
		return err
	}

	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && filepath.Ext(path) == ".bloom":
		return fmt.Errorf("-o %s: that is the name of a file, and a sharded set is a folder; name a folder", path)
	case errors.Is(err, fs.ErrNotExist):
		return container.MayWrite(path)
	case err != nil:
		return err
	case !st.IsDir():
		return fmt.Errorf("-o %s: that is a file, and a sharded set is a folder; name a folder", path)
	}

	all, err := os.ReadDir(path)
	if err != nil {
		return err
	}

	set := slices.ContainsFunc(all, func(e fs.DirEntry) bool { return e.Name() == shard.ManifestName })
	foreign := func(e fs.DirEntry) bool { return !shardset.IsUnfinished(e.Name()) }
	if !set && slices.ContainsFunc(all, foreign) {
		return fmt.Errorf("-o %s: the folder has files and is no sharded set; name a new folder", path)
	}
	return container.MayWrite(filepath.Join(path, shard.ManifestName))
}

// anySharded reports whether one of the paths is the folder of a sharded set.
func anySharded(paths ...string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { _, ok := shardset.Dir(path); return ok })
}
