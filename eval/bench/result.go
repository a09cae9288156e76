package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/bloomery/bloomery/eval/lab/clock"
	"github.com/bloomery/bloomery/internal/stat"
)

// Result holds all measurements with one number of keys. Its JSON is the file for other programs. Times are in
// nanoseconds per key.
type Result struct {
	Run
	Libraries map[string]string `json:"libraries"` // module to version
	Clock     string            `json:"clock"`
	FPR       float64           `json:"fpr"` // target
	Rows      []Row             `json:"rows"`
	Pairs     []Pair            `json:"pairs"`
}

// Run describes how the measurements with one number of keys were made.
type Run struct {
	Date    string  `json:"date"`
	Machine string  `json:"machine"`
	Cores   int     `json:"cores"`
	Go      string  `json:"go"`
	Commit  string  `json:"commit,omitempty"` // commit of this repository
	Keys    int     `json:"keys"`
	Turns   int     `json:"turns"`
	Builds  int     `json:"builds"`  // builds of each filter; a maximum without --peers
	Asked   int     `json:"asked"`   // queries of each measurement
	Command string  `json:"command"` // command that reproduces the result
	Seconds float64 `json:"seconds"` // duration of the run
}

// newRun returns the description of a run that began at start and ends now.
func newRun(start time.Time, n, asked int, s settings, command string) Run {
	return Run{
		Date: start.UTC().Format(time.DateOnly), Machine: machine(), Cores: runtime.NumCPU(), Go: runtime.Version(),
		Commit: commit(), Keys: n, Turns: s.turns, Builds: s.builds, Asked: asked, Command: command,
		Seconds: time.Since(start).Seconds(),
	}
}

// writeHeading writes the beginning of a Markdown page, which the index of pages reads.
func (r Run) writeHeading(w io.Writer, what string) {
	fmt.Fprintf(w, "# %s keys, %s\n\n", countText(r.Keys), what)
	fmt.Fprintf(w, "Measured on %s: %s, %d cores, %s", r.Date, r.Machine, r.Cores, r.Go)
	if r.Commit != "" {
		fmt.Fprintf(w, ", commit %s", r.Commit)
	}
	fmt.Fprintf(w, ", in %v. Command: `cd bench && %s`. With `--json` it prints all numbers.\n\n",
		time.Duration(r.Seconds*1e9).Round(time.Second), r.Command)
}

// Row is one filter.
type Row struct {
	Name    string `json:"name"`
	Library string `json:"library"`
	Ours    bool   `json:"ours"`
	Told    string `json:"told"`
	Note    string `json:"note,omitempty"`
	Fixed   bool   `json:"fixed"` // whether the filter has a fixed rate and ignores the target
	LeftOut string `json:"left_out,omitempty"`

	BitsPerKey float64           `json:"bits_per_key"`
	HeapBytes  uint64            `json:"heap_bytes,omitempty"`  // bytes of the filter
	PeakBytes  uint64            `json:"peak_bytes,omitempty"`  // peak of the heap during a build, without the keys
	TotalBytes uint64            `json:"total_bytes,omitempty"` // allocated during a build
	Times      map[string]spread `json:"times"`                 // times by operation
	FPR        float64           `json:"fpr"`                   // observed
	FPRLow     float64           `json:"fpr_low"`               // its exact 95% interval
	FPRHigh    float64           `json:"fpr_high"`
	Hits       uint64            `json:"hits"`
	Trials     uint64            `json:"trials"`
	Refused    int               `json:"refused"` // number of keys that the filter did not take
	Lost       int               `json:"lost"`    // false negatives
}

// Pair holds the ratios of one of our filters to a peer, by operation, computed within turns. Our batch queries are
// compared with single queries if the peer has no batch queries.
type Pair struct {
	Ours   string            `json:"ours"`
	Peer   string            `json:"peer"`
	Ratios map[string]spread `json:"ratios"`
	Bits   float64           `json:"bits"`   // ratio of the filters' sizes
	Memory float64           `json:"memory"` // ratio of the builds' peaks; 0 if one of them is too small to measure
}

// resultOf summarizes the measurements.
func resultOf(rows []*measured, run Run, rate float64) Result {
	res := Result{Run: run, Libraries: map[string]string{}, Clock: clock.Name, FPR: rate}
	versions := versions()
	by := map[string]*measured{}
	for _, m := range rows {
		by[m.name] = m
		if m.module != noModule {
			res.Libraries[m.module] = versions[m.module]
		}
		res.Rows = append(res.Rows, m.row(run.Keys))
	}
	for _, p := range pairs {
		if a, b := by[p.ours], by[p.peer]; a != nil && b != nil && a.leftOut == "" && b.leftOut == "" {
			res.Pairs = append(res.Pairs, pairOf(a, b))
		}
	}
	return res
}

func (m *measured) row(n int) Row {
	r := Row{
		Name: m.name, Library: m.module, Ours: m.ours, Told: m.told, Note: m.note, Fixed: m.fixed, LeftOut: m.leftOut,
		HeapBytes: m.heap, PeakBytes: m.peak, TotalBytes: m.total, Hits: m.hits, Trials: m.trials, Refused: m.refused, Lost: m.lost,
		BitsPerKey: float64(m.size()) / float64(n), Times: map[string]spread{},
	}
	for name, v := range m.times {
		r.Times[name] = spreadOf(v)
	}
	if m.trials > 0 {
		r.FPR = float64(m.hits) / float64(m.trials)
		r.FPRLow, r.FPRHigh = stat.Interval(m.hits, m.trials, 0.95)
	}
	return r
}

func pairOf(a, b *measured) Pair {
	p := Pair{Ours: a.name, Peer: b.name, Ratios: map[string]spread{}, Bits: float64(a.size()) / float64(b.size())}
	for _, op := range operations {
		theirs := b.times[op]
		if theirs == nil {
			theirs = b.times[strings.TrimSuffix(op, ", batch")]
		}
		if r := ratios(a.times[op], theirs); r != nil {
			p.Ratios[op] = spreadOf(r)
		}
	}
	if min(a.peak, b.peak) > 0 {
		p.Memory = float64(a.peak) / float64(b.peak)
	}
	return p
}

// lost returns an error if one of our filters has a false negative.
func (r Result) lost() error {
	for _, row := range r.Rows {
		if row.Ours && row.Lost > 0 {
			return fmt.Errorf("%s has false negatives: %d of %d keys", row.Name, row.Lost, r.Keys)
		}
	}
	return nil
}

// versions returns the versions of the modules in this program.
func versions() map[string]string {
	v := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			v[d.Path] = d.Version
		}
	}
	v[ourModule] = "this repository"
	return v
}

// commit returns the commit of this repository, with "+" appended if files have changed since, or "" if git fails.
func commit() string {
	head, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return ""
	}
	changed, _ := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output()
	return strings.TrimSpace(string(head)) + map[bool]string{true: "+"}[len(changed) > 0]
}

// machine returns the names of the processor and the operating system.
func machine() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v) + ", " + runtime.GOOS
		}
	}
	return runtime.GOARCH + ", " + runtime.GOOS
}
