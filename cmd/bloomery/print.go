package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/engine"
)

// report prints the result of a change: r as JSON with --json, nothing with --quiet, else a line of text on stderr.
func (a *app) report(r any, format string, args ...any) error {
	switch {
	case a.json:
		return a.printJSON(r)
	case a.quiet:
		return nil
	}
	fmt.Fprintf(a.stderr, format+"\n", args...) // ignore the error: the work is done
	return nil
}

// answer prints the result of a query: v as JSON with --json, else text on stdout.
func (a *app) answer(v any, format string, args ...any) error {
	if a.json {
		return a.printJSON(v)
	}
	_, err := fmt.Fprintf(a.stdout, format, args...)
	return err
}

// table prints the result of a query: v as JSON with --json, else the lines that write writes, with their
// tab-terminated cells aligned in columns.
func (a *app) table(v any, write func(w io.Writer)) error {
	if a.json {
		return a.printJSON(v)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	write(w)
	return w.Flush()
}

// object is a JSON object whose fields keep their order. A name may end in ",omitempty", which means the same as in the
// tag of a struct.
type object []struct {
	name  string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	before := "{"
	for _, f := range o {
		name, omit := strings.CutSuffix(f.name, ",omitempty")
		if v := reflect.ValueOf(f.value); omit && (v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0) {
			continue
		}
		fmt.Fprintf(&b, "%s%q:", before, name)
		if err := e.Encode(f.value); err != nil {
			return nil, err
		}
		before = ","
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (a *app) printJSON(v any) error { return cli.WriteJSON(a.stdout, v) }

// warn prints a warning, even with --quiet.
func (a *app) warn(format string, args ...any) {
	fmt.Fprintf(a.stderr, "bloomery: warning: "+format+"\n", args...)
}

// note prints a line unless --quiet is set.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, "bloomery: "+format+"\n", args...)
	}
}

// exitIf returns err, or errNo if err is nil and no is true.
func exitIf(no bool, err error) error {
	if err == nil && no {
		return errNo
	}
	return err
}

// pathName returns the name of an output in messages.
func pathName(path string) string {
	if path == stdio {
		return "standard output"
	}
	return path
}

// bytesText formats a number of bytes with a unit.
func bytesText(n uint64) string {
	if n < 10_000 {
		return fmt.Sprintf("%d B", n)
	}
	return cli.Short(float64(n)) + "B"
}

// mostlyHeader reports whether the header of a file is larger than its filter of the given number of bits. Bits per key
// then say little about the file.
func mostlyHeader(fileBytes, bits uint64) bool { return fileBytes > 2*((bits+7)/8) }

// nearlyEmpty reports whether a filter has so few keys for its room that bits per key say nothing.
func nearlyEmpty(bits, keys uint64) bool { return float64(bits) >= 1000*float64(keys) }

// sizeText describes the size of a filter and of its file.
func sizeText(fileBytes, bits, keys uint64) string {
	if keys == 0 || mostlyHeader(fileBytes, bits) {
		return fmt.Sprintf("%s, %s of them header", bytesText(fileBytes), bytesText(fileBytes-min(fileBytes, (bits+7)/8)))
	}
	if nearlyEmpty(bits, keys) {
		return bytesText(fileBytes)
	}
	return fmt.Sprintf("%s, %.4g bits per key", bytesText(fileBytes), float64(bits)/float64(keys))
}

// keysText formats a number of keys.
func keysText(n uint64) string {
	if n == 1 {
		return "1 key"
	}
	return fmt.Sprintf("%d keys", n)
}

// warnRate prints a warning if the false-positive rate of a file exceeds the planned one, or makes the filter useless.
func (a *app) warnRate(path string, i filter.Info) {
	if !i.Exceeded() {
		return
	}
	problem, why := engine.RateError{FPR: i.FPRPosterior, Most: i.FPRPlanned, Keys: i.Keys}, ", the planned rate"
	if i.FPRPlanned == 0 {
		problem.Most, why = filter.UselessFPR, ": the filter is useless"
	}
	a.warn("%s: %v%s\n  Build a new one from all of its keys, with room: --fpr, --capacity, or later= in a spec.",
		path, &problem, why)
}

// exceptionsText describes the exceptions of a filter.
func exceptionsText(i filter.Info) string {
	text := fmt.Sprintf("%d of %d allowed keys would be false positives", i.Exceptions, i.Allowed)
	if i.Exceptions == 0 {
		return text
	}
	bits := float64(i.ExceptionBits)
	text += fmt.Sprintf("; %s, %.4g bits each", bytesText(i.ExceptionBits/8), bits/float64(i.Exceptions))
	if i.Keys > 0 {
		text += fmt.Sprintf(", %.4g bits per key", bits/float64(i.Keys))
	}
	return text
}
