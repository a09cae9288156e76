package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// Choice is a filter that does what is needed.
type Choice struct {
	Spec       filter.Spec `json:"spec"`
	Keys       uint64      `json:"keys"` // those that come later included
	Bits       uint64      `json:"bits"`
	BitsPerKey float64     `json:"bits_per_key"`
	FPRPrior   float64     `json:"fpr_prior"` // with all keys
	// Nanoseconds, from the table of costs: a query at the asked mix, and its two parts, in a filter of that size that is
	// asked again and again; the same in a filter of 50 million keys, which few caches hold; a key of the build on one core.
	NsQuery    float64 `json:"ns_query"`
	NsPresent  float64 `json:"ns_present"`
	NsAbsent   float64 `json:"ns_absent"`
	FarQuery   float64 `json:"ns_query_out_of_cache"`
	FarPresent float64 `json:"ns_present_out_of_cache"`
	FarAbsent  float64 `json:"ns_absent_out_of_cache"`
	NsBuild    float64 `json:"ns_build"`
	BytesBuild float64 `json:"bytes_build"` // a key, that the build holds beside the filter
	Reason     string  `json:"reason"`
	Warning    string  `json:"warning,omitempty"`
}

// Refused is a filter that does not do what is needed, and why.
type Refused struct {
	Spec filter.Spec `json:"spec"`
	Why  string      `json:"why"`
}

// Plan is the answer to Needs: the choices, best first, and what is out of the question.
type Plan struct {
	Choices []Choice  `json:"choices"`
	Refused []Refused `json:"refused"`
}

// Impossible is the error for needs that no filter meets.
type Impossible struct {
	What    string   // what is impossible, and why
	Nearest []Choice // what comes nearest, best first
}

// Error says what is impossible and the nearest thing that is not.
func (e *Impossible) Error() string {
	if len(e.Nearest) == 0 {
		return e.What
	}
	c := e.Nearest[0]
	return fmt.Sprintf("%s; nearest: %s, %.4g bits a key at a rate of %.3g", e.What, c.Spec, c.BitsPerKey, c.FPRPrior)
}

// For returns the filters that meet the needs, best first, with what they cost by the package's own table. It searches samples
// for families that search, which takes a second or two. The error is *Impossible if none does, wraps filter.ErrConfig if
// the needs make no sense, or is ctx.Err().
func For(ctx context.Context, n Needs) (Plan, error) { return Measured().For(ctx, n) }

// For is the function of that name with another table.
func (c Costs) For(ctx context.Context, n Needs) (Plan, error) {
	if err := n.check(); err != nil {
		return Plan{}, err
	}
	if err := n.possible(); err != nil {
		return Plan{}, c.nearest(ctx, n, err)
	}
	p, err := c.choose(ctx, n)
	if err != nil {
		return Plan{}, err
	}
	if len(p.Choices) == 0 {
		return p, c.nearest(ctx, n, &Impossible{What: n.none(p.Refused)})
	}
	return p, nil
}

// NeverWrong is the answer to who wants a rate of 0: an *Impossible, with the filters of a rate of one in a thousand million as
// the nearest, or the error of For.
func NeverWrong(ctx context.Context, n Needs) error {
	n.FPR, n.BitsPerKey, n.Bytes = leastRate, 0, 0
	p, err := For(ctx, n)
	if err != nil {
		return err
	}
	return &Impossible{
		What:    "a rate of 0: whatever never gives a wrong yes holds the keys themselves, for log2(1/ε) bits a key grow without end; take a set of keys",
		Nearest: p.Choices[:min(3, len(p.Choices))],
	}
}

// leastRate is what NeverWrong offers.
const leastRate = 1e-9

// choose tries all kinds, on all cores: some search samples.
func (c Costs) choose(ctx context.Context, n Needs) (Plan, error) {
	tried := make([]struct {
		choice Choice
		why    string
	}, len(kinds))
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, k := range kinds {
		if k.values && n.ValueBits == 0 {
			continue
		}
		wait.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			if ctx.Err() == nil {
				tried[i].choice, tried[i].why = c.try(k, &n)
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return Plan{}, err
	}
	var p Plan
	for _, t := range tried {
		switch {
		case t.choice.Keys == 0: // not wanted
		case t.why != "":
			p.Refused = append(p.Refused, Refused{t.choice.Spec, t.why})
		default:
			p.Choices = append(p.Choices, t.choice)
		}
	}
	n.order(p.Choices)
	return p, nil
}

// try returns what a kind comes to, or why it does not do.
func (c Costs) try(k kind, n *Needs) (choice Choice, why string) {
	choice = Choice{Spec: k.spec, Keys: n.all(), Reason: k.reason, Warning: k.warning}
	if why := k.lacks(n); why != "" {
		return choice, why
	}
	size := filter.Sizing{FPR: n.FPR}
	if n.FPR == 0 {
		size = filter.Sizing{BitsPerKey: n.BitsPerKey, Bytes: n.Bytes}
	}
	choice.Spec = k.sized(n, size)
	if n.FPR > 0 { // before a sample is searched
		if why := c.refuse(k, n, n.FPR); why != "" {
			return choice, why
		}
	}
	row := Forecast(choice.Spec, k.counted(n))
	if row.Problem != "" {
		return choice, row.Problem
	}
	choice.Bits, choice.FPRPrior = row.Bits, row.FPRPrior
	choice.BitsPerKey = float64(row.Bits) / float64(n.all())
	if b := n.budget(); b > 0 && float64(row.Bits) > b*1.001+512 {
		return choice, fmt.Sprintf("takes %.4g bits a key", choice.BitsPerKey)
	}
	if n.FPR > 0 && row.FPRPrior > n.FPR*1.02 {
		return choice, fmt.Sprintf("has a rate of %.3g", row.FPRPrior)
	}
	cost, ok := c.At(k.spec, n.all(), choice.FPRPrior)
	far, _ := c.OutOfCache(k.spec, choice.FPRPrior)
	if !ok {
		return choice, "its costs were not measured"
	}
	if n.Adversarial {
		for _, v := range []*float64{&cost.Present, &cost.Absent, &cost.Build, &far.Present, &far.Absent} {
			*v += c.Keyed
		}
		choice.Warning = join(choice.Warning, "give a secret (--secret-file), which who asks must not know")
	}
	mix := func(p Point) float64 { return n.Absent*p.Absent + (1-n.Absent)*p.Present }
	choice.NsPresent, choice.NsAbsent, choice.NsBuild = cost.Present, cost.Absent, cost.Build
	choice.FarPresent, choice.FarAbsent = far.Present, far.Absent
	choice.NsQuery, choice.FarQuery = mix(cost), mix(far)
	if why := c.refuse(k, n, choice.FPRPrior); why != "" {
		return choice, why
	}
	choice.BytesBuild = c.Memory[k.spec.String()]
	if n.Writers && k.writers {
		choice.Warning = join(choice.Warning, "for many writers take its Atomic or Concurrent type")
	}
	return choice, ""
}

// refuse says why a build at a rate is out of the question, or "".
func (c Costs) refuse(k kind, n *Needs, fpr float64) string {
	cost, _ := c.At(k.spec, n.all(), fpr)
	if took := time.Duration(min(cost.Build*float64(n.Keys), math.MaxInt64)); n.Build > 0 && took > n.Build {
		return fmt.Sprintf("takes some %v to build on one core", took.Round(time.Millisecond))
	}
	if held := c.Memory[k.spec.String()] * float64(n.Keys); n.Memory > 0 && !k.spills && held > float64(n.Memory) {
		return fmt.Sprintf("takes some %.3g bytes to build", held)
	}
	return ""
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// noRate is the rate below which nobody sees a false positive: all of those are alike.
const noRate = 1e-12

// order puts the best first.
func (n *Needs) order(c []Choice) {
	slices.SortStableFunc(c, func(a, b Choice) int {
		if n.For == Fastest {
			return cmp.Compare(a.NsQuery, b.NsQuery)
		}
		if n.FPR == 0 {
			return cmp.Or(cmp.Compare(max(a.FPRPrior, noRate), max(b.FPRPrior, noRate)), cmp.Compare(a.NsQuery, b.NsQuery))
		}
		return cmp.Or(cmp.Compare(a.Bits, b.Bits), cmp.Compare(a.NsQuery, b.NsQuery))
	})
	if n.For == Fastest && n.FPR == 0 { // at a size, the fastest are those with the worst rates: stay near the best
		best := 1.
		for _, x := range c {
			best = min(best, max(x.FPRPrior, noRate))
		}
		slices.SortStableFunc(c, func(a, b Choice) int {
			return cmp.Compare(outside(a.FPRPrior, best), outside(b.FPRPrior, best))
		})
	}
}

// outside returns 1 for rates of more than twice the best, else 0.
func outside(rate, best float64) int {
	if rate > 2*best {
		return 1
	}
	return 0
}

// possible returns an *Impossible for what no filter of any kind can do.
func (n *Needs) possible() error {
	budget := n.budget()
	if budget == 0 {
		return nil
	}
	perKey := budget / float64(n.all())
	if n.FPR > 0 {
		bound, name := math.Log2(1/n.FPR), "no filter keeps a rate of %.3g in less than log2(1/ε) = %.2f bits a key"
		if n.Remove || n.Count || n.ValueBits > 0 {
			bound, name = bound+1.44+float64(n.ValueBits), "no filter from which keys can be removed is known to keep a rate of %.3g in less than log2(1/ε) + 1.44 = %.2f bits a key"
			if n.ValueBits > 0 {
				name = "no filter with values that change is known to keep a rate of %.3g in less than log2(1/ε) + 1.44 and the value, %.2f bits a key"
			}
		}
		if perKey < bound {
			return &Impossible{What: fmt.Sprintf(name+", and %.4g are allowed", n.FPR, bound, perKey)}
		}
		return nil
	}
	if perKey < leastPerKey {
		return &Impossible{What: fmt.Sprintf("%d keys in %.0f bits are %.3g bits a key: whatever is asked for, nearly every answer would be yes", n.all(), budget, perKey)}
	}
	return nil
}

// leastPerKey is where the least rate that any filter could have, 2^-bits, is above 0.7.
const leastPerKey = 0.5

// none says why all kinds were refused.
func (n *Needs) none(refused []Refused) string {
	var lines []string
	for _, r := range refused {
		lines = append(lines, fmt.Sprintf("%s %s", r.Spec, r.Why))
	}
	return "no filter does all of this:\n" + strings.Join(lines, "\n")
}

// nearest fills in what comes near to needs that are impossible: what they cost without the limit of size, then what that
// size gives without the rate, then without the wishes about speed and memory access.
func (c Costs) nearest(ctx context.Context, n Needs, err error) error {
	impossible, ok := err.(*Impossible)
	if !ok {
		return err
	}
	for _, relax := range []func(*Needs){
		func(m *Needs) { m.BitsPerKey, m.Bytes = 0, 0 },
		func(m *Needs) { m.FPR = 0 },
		func(m *Needs) { m.Build, m.Memory, m.OneLine, m.Writers = 0, 0, false, false },
		func(m *Needs) { m.Merge = false },
		func(m *Needs) { m.ValueBits = 0 },
		func(m *Needs) {
			m.Build, m.Memory, m.OneLine, m.Writers, m.Unpatented = 0, 0, false, false, false
			m.Merge, m.BitsPerKey, m.Bytes = false, 0, 0
		},
	} {
		m := n
		relax(&m)
		if m == n {
			continue
		}
		if m.FPR == 0 && m.possible() != nil {
			continue
		}
		if m.check() != nil {
			continue
		}
		p, err := c.choose(ctx, m)
		if err != nil {
			return err
		}
		if len(p.Choices) > 0 && !slices.ContainsFunc(impossible.Nearest, func(c Choice) bool { return c.Spec.Equal(p.Choices[0].Spec) }) {
			impossible.Nearest = append(impossible.Nearest, p.Choices[0])
		}
	}
	return impossible
}
