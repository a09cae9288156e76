package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Result is all that is known of one number of keys; its JSON is the file for other programs. Times are nanoseconds a key.
type Result struct {
	Date      string            `json:"date"`
	Machine   string            `json:"machine"`
	Cores     int               `json:"cores"`
	Go        string            `json:"go"`
	Commit    string            `json:"commit,omitempty"` // of this repository
	Libraries map[string]string `json:"libraries"`        // module to version
	Clock     string            `json:"clock"`
	Keys      int               `json:"keys"`
	FPR       float64           `json:"fpr"` // asked for
	Turns     int               `json:"turns"`
	Builds    int               `json:"builds"`  // at most
	Asked     int               `json:"asked"`   // keys of each measurement of questions
	Command   string            `json:"command"` // that writes the same again
	Seconds   float64           `json:"seconds"` // that all of it took
	Rows      []Row             `json:"rows"`
	Pairs     []Pair            `json:"pairs"`
}

// Row is one filter.
type Row struct {
	Name    string `json:"name"`
	Library string `json:"library"`
	Ours    bool   `json:"ours"`
	Told    string `json:"told"`
	Note    string `json:"note,omitempty"`
	Fixed   bool   `json:"fixed"` // its rate does not follow what is asked for
	LeftOut string `json:"left_out,omitempty"`

	BitsPerKey float64           `json:"bits_per_key"`
	HeapBytes  uint64            `json:"heap_bytes"`  // that the filter keeps
	PeakBytes  uint64            `json:"peak_bytes"`  // of heap during a build, beyond the keys
	TotalBytes uint64            `json:"total_bytes"` // allocated during a build
	Times      map[string]spread `json:"times"`       // of each operation
	FPR        float64           `json:"fpr"`         // observed
	FPRLow     float64           `json:"fpr_low"`     // its exact 95% interval
	FPRHigh    float64           `json:"fpr_high"`
	Hits       uint64            `json:"hits"`
	Trials     uint64            `json:"trials"`
	Refused    int               `json:"refused"` // keys that the filter did not take
	Lost       int               `json:"lost"`    // keys that it denies
}

// Pair is the ratio of one of ours over a peer, operation by operation, of the same turns. A peer without batches is asked one by
// one beside ours in batches.
type Pair struct {
	Ours   string            `json:"ours"`
	Peer   string            `json:"peer"`
	Ratios map[string]spread `json:"ratios"`
	Bits   float64           `json:"bits"`   // of the filters
	Memory float64           `json:"memory"` // peaks of the builds; 0 if one of them is too small to see
}

// resultOf sums up what was measured.
func resultOf(rows []*measured, n int, s settings) Result {
	res := Result{
		Date: time.Now().UTC().Format(time.DateOnly), Machine: machine(), Cores: runtime.NumCPU(), Go: runtime.Version(), Commit: commit(),
		Libraries: map[string]string{}, Clock: clockName, Keys: n, FPR: s.rate, Turns: s.turns, Builds: s.builds, Asked: min(asked, n),
	}
	versions := versions()
	by := map[string]*measured{}
	for _, m := range rows {
		by[m.name] = m
		if m.module != noModule {
			res.Libraries[m.module] = versions[m.module]
		}
		res.Rows = append(res.Rows, m.row(n))
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
		r.FPR, r.FPRLow, r.FPRHigh = m.observed()
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

// lost returns an error if a filter of ours denies a key that it holds.
func (r Result) lost() error {
	for _, row := range r.Rows {
		if row.Ours && row.Lost > 0 {
			return fmt.Errorf("%s denies %d of %d keys that it holds", row.Name, row.Lost, r.Keys)
		}
	}
	return nil
}

// versions returns those of the modules that this program is made of.
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

// commit returns that of this repository, with a plus if files were changed since, or nothing if it cannot be had.
func commit() string {
	head, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return ""
	}
	changed, _ := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output()
	return strings.TrimSpace(string(head)) + map[bool]string{true: "+"}[len(changed) > 0]
}

// machine names the processor.
func machine() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v) + ", " + runtime.GOOS
		}
	}
	return runtime.GOARCH + ", " + runtime.GOOS
}
