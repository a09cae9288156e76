package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/eval/child"
	"github.com/bloomery/bloomery/interop"
)

// dcsoPackage is the package of Debian and Ubuntu that contains the program.
const dcsoPackage = "golang-github-dcso-bloom-cli"

// dcsoSystem returns the system of the program bloom of DCSO. In the form create one run makes a filter. In the form
// insert one run makes it, two runs add the keys, and all its files are gzip data.
func dcsoSystem() system {
	about := "bloom of " + dcsoPackage + ", by apt-get and dpkg"
	return system{name: "dcso", about: about, run: func(t *trial) error {
		path, err := t.shop.debian(dcsoPackage, "bloom")
		if err != nil {
			return err
		}
		return t.exchange(dcso{t.ctx, path}, exchange{
			format: always(interop.DCSO), cases: t.grid(1, []kind{text}, "create", "insert"),
			configs: sizedBy(func(testCase) string { return "dcso(" }, 40),
			fresh:   true,
			state: func(c testCase, file []byte) { // a spec with m has no rate
				binary.LittleEndian.PutUint64(file[16:], math.Float64bits(c.rate))
			},
		})
	}}
}

// debian returns the path of a program of a Debian package, which it unpacks but does not install.
func (s shop) debian(name, program string) (path string, err error) {
	folder := filepath.Join(s.cache, name)
	path = filepath.Join(folder, "usr", "bin", program)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	for _, tool := range []string{"apt-get", "dpkg"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", child.LackError("it needs " + tool + " in PATH")
		}
	}

	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", err
	}
	if err := s.tool(folder, "apt-get", "download", name); err != nil {
		return "", err
	}
	packages, err := filepath.Glob(filepath.Join(folder, name+"_*.deb"))
	if err != nil || len(packages) == 0 {
		return "", errors.Join(fmt.Errorf("apt-get downloaded no %s", name), err)
	}
	return path, s.tool(folder, "dpkg", "-x", packages[len(packages)-1], ".")
}

// dcso is the program bloom as a peer. Each call starts it anew.
type dcso struct {
	ctx  context.Context
	path string
}

func (d dcso) version() string {
	out, err := d.run("", nil, "--version")
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(out))
}

func (dcso) Close() error { return nil }

// run runs the program with lines as its input and returns its output.
func (d dcso) run(form string, lines []byte, args ...string) ([]byte, error) {
	if form == "insert" {
		args = append([]string{"--gzip"}, args...)
	}
	cmd := child.Command(d.ctx, append([]string{d.path}, args...)...)
	cmd.Stdin = bytes.NewReader(lines)
	var out bytes.Buffer
	var says child.Tail
	cmd.Stdout, cmd.Stderr = &out, &says
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("bloom %s: %w%s", strings.Join(args, " "), err, says.Quote())
	}
	return out.Bytes(), nil
}

func (d dcso) build(c testCase, keys, out string) ([]part, error) {
	lines, err := keyLines(keys)
	if err != nil {
		return nil, err
	}
	create := []string{"create", "-n", strconv.Itoa(c.keys), "-p", c.rateText(), out}
	if c.form == "insert" {
		half := bytes.IndexByte(lines[len(lines)/2:], '\n') + len(lines)/2 + 1
		_, err1 := d.run(c.form, nil, create...)
		_, err2 := d.run(c.form, lines[:half], "insert", out)
		_, err3 := d.run(c.form, lines[half:], "insert", out)
		err = errors.Join(err1, err2, err3, unzip(out))
	} else {
		_, err = d.run(c.form, lines, create...)
	}
	return []part{{0, -1, -1}}, err
}

// ask derives the answers from the lines that check prints, which are distinct and in order.
func (d dcso) ask(c testCase, file, keys, answers string) error {
	lines, err := keyLines(keys)
	if err != nil {
		return err
	}
	zipped, err := d.input(c, file)
	if err != nil {
		return err
	}
	yes, err := d.run(c.form, lines, "check", zipped)
	if err != nil {
		return err
	}

	asked := bytes.SplitAfter(lines, []byte("\n"))
	asked = asked[:len(asked)-1]
	bits := make([]byte, (len(asked)+7)/8)
	for i, line := range asked {
		if bytes.HasPrefix(yes, line) {
			yes = yes[len(line):]
			bits[i/8] |= 1 << (i % 8)
		}
	}
	if len(yes) > 0 {
		return fmt.Errorf("check prints a line that is not in its input: %.40q", yes)
	}
	return os.WriteFile(answers, bits, 0o666)
}

func (d dcso) again(c testCase, file, out string) error {
	zipped, err := d.input(c, file)
	if err != nil {
		return err
	}
	if err := os.Rename(zipped, out); err != nil {
		return err
	}
	if _, err := d.run(c.form, nil, "insert", out); err != nil || c.form != "insert" {
		return err
	}
	return unzip(out)
}

// input writes a copy of a file that the program reads: in the form insert, gzip data.
func (d dcso) input(c testCase, file string) (path string, err error) {
	b, err := os.ReadFile(file)
	if err == nil && c.form == "insert" {
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		_, err = z.Write(b)
		err = errors.Join(err, z.Close())
		b = zipped.Bytes()
	}
	if err != nil {
		return "", err
	}
	return file + ".in", os.WriteFile(file+".in", b, 0o666)
}

// unzip replaces a file of gzip data with its content.
func unzip(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(z); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
}

// keyLines returns the keys of a file of keys, a line each.
func keyLines(path string) (lines []byte, err error) {
	b, err := os.ReadFile(path)
	for len(b) >= 4 {
		n := 4 + int(binary.LittleEndian.Uint32(b))
		lines = append(append(lines, b[4:n]...), '\n')
		b = b[n:]
	}
	return lines, err
}
