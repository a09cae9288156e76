package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/window"
)

// TestWindowTime checks that a file with the time of a clock is queried at the saved time, however long ago it was
// saved.
func TestWindowTime(t *testing.T) {
	now := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	f, err := window.New[string](window.Config{Keys: 10, TTL: time.Minute, Clock: func() time.Time { return now }})
	must(t, err)
	must(t, f.Add("key"))
	now = now.Add(30 * time.Second)
	path := filepath.Join(t.TempDir(), "seen.window")
	must(t, f.Save(t.Context(), path))
	if code, out := runOn(t, "key\nother\n", "check", path); code != 0 || out != "key\n" {
		t.Errorf("check: %d, %q", code, out)
	}
	if code, out := runOn(t, "", "info", path); code != 0 || !strings.Contains(out, "2020-01-01T00:00:30Z") {
		t.Errorf("info: %d, %s", code, out)
	}
	if code, out := runOn(t, "key\n", "verify", path, "--members", "-", "--random", "1000"); code != 0 {
		t.Errorf("verify: %d, %s", code, out)
	}
}

// TestWindowOfProgram checks that dedup continues the file of a program with the same Keys and TTL, and the program the
// file of dedup, both with their default rates.
func TestWindowOfProgram(t *testing.T) {
	config := window.Config{Keys: 1000, TTL: 24 * time.Hour}
	f, err := window.New[string](config)
	must(t, err)
	must(t, f.Add("of the program"))
	path := filepath.Join(t.TempDir(), "seen.state")
	must(t, f.Save(t.Context(), path))

	args := []string{"dedup", "--ttl", "24h", "--keys", "1000", "--state", path}
	if code, out := runOn(t, "of the program\nof the command\n", args...); code != 0 || out != "of the command\n" {
		t.Errorf("dedup: %d, %q", code, out)
	}

	f, err = window.Open[string](t.Context(), path, config)
	must(t, err)
	for _, key := range []string{"of the program", "of the command"} {
		if !f.Contains(key) {
			t.Errorf("%q is missing", key)
		}
	}
}

// TestWindowDamage checks that files that were cut, or have more bytes after their end, are refused as damaged.
func TestWindowDamage(t *testing.T) {
	file := mustRead(t, "../../window/testdata/few.window")
	path := filepath.Join(t.TempDir(), "seen.window")
	for name, b := range map[string][]byte{
		"cut": file[:len(file)-1], "cut in the clock": file[:len(file)-40], "bytes behind": append(slices.Clip(file), 0),
		"a bit": append(slices.Clip(file[:len(file)-1]), file[len(file)-1]^1),
	} {
		mustWrite(t, path, b)
		for _, args := range [][]string{{"info", path}, {"check", path}, {"verify", path, "--members", "-"}} {
			var stdout, stderr strings.Builder
			code := run(t.Context(), args, strings.NewReader("a\n"), &stdout, &stderr)
			if code != exitError || !strings.Contains(stderr.String(), path+": ") ||
				!strings.Contains(stderr.String(), adviceDamaged) {
				t.Errorf("%s of a file with %s: exit code %d, %s%s", args[0], name, code, &stdout, &stderr)
			}
		}
	}
}

// windowUse describes how a command treats a file of package window.
type windowUse struct {
	reads []string // lines that read such files
	// refuses lists commands that refuse such a file in place of a filter. Their errors name the package, and they
	// write nothing.
	refuses []string
	// others lists commands that expect something other than a filter there. They fail and write nothing.
	others []string
	none   string // why the command does not read filter files
}

// windowUses maps each command to its uses. In the lines, w and w2 are files of package window, f and g are filters, d
// is the delta between them, keys, kept and values are lists, and site is a folder of bloomery publish.
var windowUses = map[string]windowUse{
	"info":     {reads: []string{"info w", "info --json w w2"}},
	"check":    {reads: []string{"check w keys", "check -c --json w keys"}, others: []string{"check f w"}},
	"verify":   {reads: []string{"verify w --members kept --random 1k"}, others: []string{"verify f --members w"}},
	"add":      {refuses: []string{"add w keys"}, others: []string{"add f w"}},
	"remove":   {refuses: []string{"remove w keys"}, others: []string{"remove f w"}},
	"put":      {refuses: []string{"put w values"}},
	"count":    {refuses: []string{"count w keys"}},
	"get":      {refuses: []string{"get w keys"}},
	"trim":     {refuses: []string{"trim w -o out", "trim w"}},
	"estimate": {refuses: []string{"estimate w", "estimate w w2", "estimate f w"}},
	"merge":    {refuses: []string{"merge -o out w w2", "merge -o out f w", "merge -o out w f"}},
	"intersect": {
		refuses: []string{"intersect -o out w w2", "intersect -o out f w", "intersect -o out w f"},
	},
	"convert": {
		refuses: []string{
			"convert w -o out", "convert w --to guava -o out", "convert --from bloomery --to bloomery w -o out",
			"convert --from guava w -o out", "convert --from redisbloom w -o out", "convert --from parquet w -o out",
			"convert --from bits-and-blooms w -o out",
		},
	},
	"optimize": {refuses: []string{"optimize w --keys keys"}},
	"build": {
		refuses: []string{"build -o out --like w keys"},
		others: []string{
			"build -o out w", "build -o out --spec ribbon --allow w keys", "build -o w --spec rankindexed keys",
		},
	},
	"diff": {
		refuses: []string{"diff w w2 -o out", "diff w f -o out", "diff f w -o out"},
		others:  []string{"diff f g -o w"},
	},
	"patch":   {refuses: []string{"patch w d -o out"}, others: []string{"patch f w -o out"}},
	"publish": {refuses: []string{"publish out w", "publish out w --trim"}, others: []string{"publish w --check"}},
	"follow": {
		others: []string{"follow w -o out --once --insecure", "follow site -o w --once --insecure"},
	},
	"dedup": {others: []string{ // w has a different ttl, number of keys and rate
		"dedup w", "dedup --state w keys", "dedup --state w --ttl 24h --keys 100 keys",
	}},
	"exact info":     {refuses: []string{"exact info w"}},
	"exact check":    {refuses: []string{"exact check w keys"}},
	"exact verify":   {refuses: []string{"exact verify w --members keys --universe keys"}},
	"exact update":   {refuses: []string{"exact update -o out --base w --members keys --universe keys"}},
	"exact build":    {others: []string{"exact build -o out --members w --universe keys"}},
	"clubcard info":  {others: []string{"clubcard info w"}},
	"clubcard check": {others: []string{"clubcard check w w2"}},
	"shard plan":     {others: []string{"shard plan -o w --shards 2 --spec blocked keys"}},
	"shard range":    {others: []string{"shard range w --all"}},
	"shard build":    {others: []string{"shard build w --all"}},
	"shard finish":   {others: []string{"shard finish w"}},
	"shard status":   {others: []string{"shard status w"}},
	"keygen":         {others: []string{"keygen -o w"}},
	"plan":           {none: "numbers only"},
	"demo":           {none: "lists of its own"},
	"version":        {none: "prints the version"},
	"completion":     {none: "prints a script"},
}

// TestWindowCommands runs every command with files of package window. The command must read them, or refuse them with
// an error that names the package and write nothing. A new command must be in the table.
func TestWindowCommands(t *testing.T) {
	var commands []string
	for name, c := range allCommands((&app{ctx: t.Context()}).rootCommand()) {
		if !c.HasSubCommands() {
			commands = append(commands, strings.TrimPrefix(name, "bloomery "))
		}
	}
	for _, name := range commands {
		if _, ok := windowUses[name]; !ok {
			t.Errorf("what does %q do with a file of package window? Add it to windowUses", name)
		}
	}
	for name := range windowUses {
		if !slices.Contains(commands, name) {
			t.Errorf("windowUses has %q, which is no command", name)
		}
	}
	windowFolder(t)
	for name, use := range windowUses {
		if (use.none != "") != (len(use.reads)+len(use.refuses)+len(use.others) == 0) {
			t.Errorf("%s: want lines, or why there are none", name)
		}
		for _, line := range use.reads {
			if code, out := windowLine(t, line); code != exitOK {
				t.Errorf("%s: exit code %d, %s", line, code, out)
			}
		}
		for i, line := range slices.Concat(use.refuses, use.others) {
			before := filesHere(t)
			code, out := windowLine(t, line)
			if code != exitError || !strings.HasPrefix(out, "bloomery: ") {
				t.Errorf("%s: exit code %d, %s", line, code, out)
			}
			if i < len(use.refuses) && !strings.Contains(out, "window, a filter whose keys expire") {
				t.Errorf("%s: refused, but not by name: %s", line, out)
			}
			if now := filesHere(t); !maps.Equal(before, now) {
				t.Errorf("%s: it has written: %v, before %v", line, now, before)
			}
		}
	}
}

// windowFolder creates the files of windowUses in a new folder and makes it the current folder.
func windowFolder(t *testing.T) {
	t.Helper()
	b := mustRead(t, "../../window/testdata/few.window")
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"w": string(b), "w2": string(b), "keys": "a\nb\nc\ni\n", "kept": "e\nf\ng\nh\ni\n", "values": "a\t1\nb\t2\n",
	} {
		mustWrite(t, name, content)
	}
	for _, line := range []string{
		"build -o f --spec rankindexed --capacity 10 keys", "build -o g --like f kept", "diff f g -o d",
		"publish site f",
	} {
		if code, out := windowLine(t, line); code != exitOK {
			t.Fatalf("%s: exit code %d, %s", line, code, out)
		}
	}
}

// windowLine runs a line of arguments and returns its standard error, or its standard output if standard error is
// empty.
func windowLine(t *testing.T, line string) (code int, out string) {
	var stdout, stderr strings.Builder
	code = run(t.Context(), append([]string{"-q"}, strings.Fields(line)...), strings.NewReader(""), &stdout, &stderr)
	if stderr.Len() > 0 {
		return code, stderr.String()
	}
	return code, stdout.String()
}

// filesHere is treeOf for the current folder, without lock files, which remain.
func filesHere(t *testing.T) map[string]string {
	all := treeOf(t, ".")
	maps.DeleteFunc(all, func(path, _ string) bool { return strings.HasSuffix(path, ".lock") })
	return all
}
