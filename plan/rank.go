package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/stat"
)

// Choice is a filter that meets the needs.
type Choice struct {
	Spec       filter.Spec `json:"spec"`
	Keys       uint64      `json:"keys"` // later keys included
	Bits       uint64      `json:"bits"`
	BitsPerKey float64     `json:"bits_per_key"`
	FileBytes  uint64      `json:"file_bytes"` // length of the file, header included, within about 200 bytes
	FPRPrior   float64     `json:"fpr_prior"`  // predicted false-positive rate with all keys
	// Times in nanoseconds, from the table of costs. NsQuery is the mean time of a query with the share
	// Needs.Absent of absent keys, in a filter of this size with warm caches. NsPresent and NsAbsent are
	// its parts. The Far fields are the same for a filter of 50 million keys, larger than most caches.
	// NsBuild is the time of a build per key on one core.
	NsQuery    float64 `json:"ns_query"`
	NsPresent  float64 `json:"ns_present"`
	NsAbsent   float64 `json:"ns_absent"`
	FarQuery   float64 `json:"ns_query_out_of_cache"`
	FarPresent float64 `json:"ns_present_out_of_cache"`
	FarAbsent  float64 `json:"ns_absent_out_of_cache"`
	NsBuild    float64 `json:"ns_build"`
	BytesBuild float64 `json:"bytes_build"` // memory of the build in bytes per key, without the filter
	Reason     string  `json:"reason"`
	Warning    string  `json:"warning,omitempty"`
	Instead    string  `json:"instead,omitempty"` // in Impossible.Nearest: the need that it does not meet
}

// Refused is a filter that does not meet the needs, with the reason.
type Refused struct {
	Spec filter.Spec `json:"spec"`
	Why  string      `json:"why"`
}

// Plan is the answer to Needs: the filters that meet them, best first, and the filters that do not.
type Plan struct {
	Choices []Choice  `json:"choices"`
	Refused []Refused `json:"refused"`
}

// For returns the filters that meet the needs, best first; with the objective Lasting one of them. The error is an
// *Impossible if no filter meets the needs, wraps filter.ErrConfig if the needs are contradictory, or is ctx.Err().
//
// Sizes and rates are forecasts, times come from a table that was measured on one machine. For takes
// less than 0.1 s.
func For(ctx context.Context, n Needs) (Plan, error) {
	if err := n.check(); err != nil {
		return Plan{}, err
	}
	if err := n.possible(); err != nil {
		return Plan{}, nearest(ctx, n, err)
	}
	if n.For == Lasting {
		if choice, ok := firstPreferred(&n); ok {
			return Plan{Choices: []Choice{choice}}, nil
		}
	}

	p, err := choose(ctx, n)
	if err != nil {
		return Plan{}, err
	}
	if n.For == Lasting && len(p.Choices) > 0 {
		p.Choices = p.Choices[:1]
	}
	if len(p.Choices) == 0 {
		return p, nearest(ctx, n, &Impossible{What: n.describeRefusals(p.Refused)})
	}
	return p, nil
}

// choose tries all kinds, on all cores.
func choose(ctx context.Context, n Needs) (Plan, error) {
	kinds := allKinds()
	tried := make([]struct {
		choice Choice
		why    string
	}, len(kinds))
	parallel.Each(parallel.Workers(0), len(kinds), func(_, i int) {
		if k := kinds[i]; !k.unwanted(&n) && ctx.Err() == nil {
			tried[i].choice, tried[i].why = tryKind(k, &n)
		}
	})
	if err := ctx.Err(); err != nil {
		return Plan{}, err
	}

	var p Plan
	for _, t := range tried {
		switch {
		case t.choice.Keys == 0: // unwanted: not a candidate, so not refused either
		case t.why != "":
			p.Refused = append(p.Refused, Refused{t.choice.Spec, t.why})
		default:
			p.Choices = append(p.Choices, t.choice)
		}
	}
	n.sortChoices(p.Choices)
	return p, nil
}

const (
	likely  = 0.5  // the highest rate to try for kinds without filters of higher rates
	useless = 0.95 // the highest rate of a choice, unless the needs allow a higher one
	scatter = 1.02 // a forecast may exceed the rate by this factor: builders meet the rate
)

// tryKind returns the choice of a kind, or the reason why it does not meet the needs.
func tryKind(k kind, n *Needs) (choice Choice, why string) {
	choice = Choice{Spec: k.Spec, Keys: n.totalKeys(), Reason: k.Reason, Warning: k.Warning}
	if why := k.reasonAgainst(n); why != "" {
		return choice, why
	}

	size := family.Sizing{FPR: n.FPR}
	if n.FPR == 0 {
		size = family.Sizing{BitsPerKey: n.BitsPerKey, Bytes: n.Bytes}
	}

	choice.Spec = k.sizedSpec(n, size)
	if n.FPR > 0 {
		if why := refuse(k, n, n.FPR); why != "" {
			return choice, why
		}
	}

	row := Forecast(choice.Spec, k.forecastKeys(n))
	if row.Problem != "" && n.FPR > likely { // some kinds have no filters with such a high rate: try a lower one
		choice.Spec = k.sizedSpec(n, family.Sizing{FPR: likely})
		row = Forecast(choice.Spec, k.forecastKeys(n))
	}

	b := n.budget()
	if b >= 512 && row.Problem == "" && n.FPR == 0 && float64(row.Bits) > b+n.slackBits() {
		// The kind rounds up to whole cache lines of 512 bits: ask for one line fewer.
		size.Bytes, size.BitsPerKey = n.sizeOfLines(math.Floor(b / 512))
		choice.Spec = k.sizedSpec(n, size)
		row = Forecast(choice.Spec, k.forecastKeys(n))
	}
	if row.Problem != "" {
		return choice, row.Problem
	}

	choice.Bits, choice.FPRPrior = row.Bits, row.FPRPrior
	choice.BitsPerKey = float64(row.Bits) / float64(n.totalKeys())
	choice.FileBytes = (row.Bits+7)/8 + k.header
	choice.Reason = strings.Replace(choice.Reason, "{size}", overBound(choice, n), 1)
	if b > 0 && float64(row.Bits) > b+n.slackBits() {
		return choice, fmt.Sprintf("takes %.4g bits per key", choice.BitsPerKey)
	}
	if k.LineFrom > row.FPRPrior && n.OneLine {
		return choice, "reads a second cache line too often at so low a rate"
	}

	most := useless
	if n.FPR > 0 {
		most = n.FPR * scatter
	}
	if row.FPRPrior > most {
		return choice, "has a rate of " + stat.Percent(row.FPRPrior)
	}

	cost, ok := families.Costs().At(k.Spec, n.totalKeys(), choice.FPRPrior)
	far, _ := families.Costs().OutOfCache(k.Spec, choice.FPRPrior)
	if !ok {
		return choice, "its costs were not measured"
	}
	if n.Adversarial {
		for _, v := range []*float64{&cost.Present, &cost.Absent, &cost.Build, &far.Present, &far.Absent} {
			*v += families.Costs().Keyed
		}
		choice.Warning = joinWarnings(choice.Warning, "give a secret (--secret-file) that nobody who queries knows")
	}

	mix := func(p families.CostPoint) float64 { return n.Absent*p.Absent + (1-n.Absent)*p.Present }
	choice.NsPresent, choice.NsAbsent, choice.NsBuild = cost.Present, cost.Absent, cost.Build
	choice.FarPresent, choice.FarAbsent = far.Present, far.Absent
	choice.NsQuery, choice.FarQuery = mix(cost), mix(far)
	if why := refuse(k, n, choice.FPRPrior); why != "" {
		return choice, why
	}

	choice.BytesBuild = families.Costs().Memory[k.Spec.String()]
	if n.Writers {
		choice.Warning = joinWarnings(choice.Warning, "set Config.Concurrent, so that many goroutines may write")
	}
	return choice, ""
}

// overBound describes how much larger a choice, without its header, is than the smallest possible size, log2(1/rate)
// bits per key.
func overBound(c Choice, n *Needs) string {
	if c.FileBytes > 2*((c.Bits+7)/8) { // a comparison would be about the header
		return "in a file that is mostly header"
	}

	rate := cmp.Or(n.FPR, c.FPRPrior)
	times := float64(c.Bits) / (float64(n.totalKeys()) * math.Log2(1/rate))
	// From these values on, the format with one more digit would round up to 10.0 or 2.0.
	switch {
	case times >= 9.95:
		return fmt.Sprintf("%.0f times the smallest possible size", times)
	case times >= 1.995:
		return fmt.Sprintf("%.1f times the smallest possible size", times)
	}

	percent := 100 * max(times-1, 0)
	if percent >= 9.95 {
		return fmt.Sprintf("%.0f%% over the smallest possible size", percent)
	}
	return fmt.Sprintf("%.1f%% over the smallest possible size", max(percent, 0.1))
}

// refuse returns the reason why a build at a rate exceeds the limits, or "".
func refuse(k kind, n *Needs, fpr float64) string {
	cost, _ := families.Costs().At(k.Spec, n.totalKeys(), fpr)
	// Half of the largest int64 in nanoseconds is 146 years, and the conversion cannot overflow.
	if took := time.Duration(min(cost.Build*float64(n.Keys), math.MaxInt64/2)); n.Build > 0 && took > n.Build {
		return fmt.Sprintf("takes about %v to build on one core", roundTime(took))
	}
	held := families.Costs().Memory[k.Spec.String()] * float64(n.Keys)
	if n.Memory > 0 && !k.spills && held > float64(n.Memory) {
		return fmt.Sprintf("takes about %.3g bytes to build", held)
	}
	return ""
}

// roundTime rounds a duration to about three digits.
func roundTime(d time.Duration) time.Duration {
	for unit := time.Microsecond; ; unit *= 10 {
		if d/1000 < unit {
			return d.Round(unit)
		}
	}
}

func joinWarnings(a, b string) string { return strings.TrimPrefix(a+"; "+b, "; ") }

// noRate is the rate below which false positives do not occur in practice. All rates below it rank as equal.
const noRate = 1e-12

// sortChoices sorts choices, best first.
func (n *Needs) sortChoices(c []Choice) {
	slices.SortStableFunc(c, func(a, b Choice) int {
		if n.For == Fastest {
			return cmp.Compare(a.NsQuery, b.NsQuery)
		}
		if n.FPR == 0 {
			return cmp.Or(cmp.Compare(max(a.FPRPrior, noRate), max(b.FPRPrior, noRate)), cmp.Compare(a.NsQuery, b.NsQuery))
		}
		return cmp.Or(cmp.Compare(a.FileBytes, b.FileBytes), cmp.Compare(a.NsQuery, b.NsQuery))
	})
	// The fastest filters of one size have the worst rates, so filters with a far higher rate than the best go last.
	if n.For == Fastest && n.FPR == 0 {
		best := 1.
		for _, x := range c {
			best = min(best, max(x.FPRPrior, noRate))
		}
		slices.SortStableFunc(c, func(a, b Choice) int {
			return cmp.Compare(outside(a.FPRPrior, best), outside(b.FPRPrior, best))
		})
	}
}

// outside returns 1 for rates above twice the best rate, or above the square root of the best rate if that is lower;
// else 0.
func outside(rate, best float64) int {
	if rate > min(2*best, math.Sqrt(best)) {
		return 1
	}
	return 0
}

// firstPreferred returns the first of the preferred forms that meets the needs. If static forms were refused because of
// the rate, the size or the time, it returns the next static form, or the smallest of the others.
func firstPreferred(n *Needs) (best Choice, ok bool) {
	refused, others := false, []Choice(nil)
	for _, k := range preferred() {
		if k.unwanted(n) || k.reasonAgainst(n) != "" {
			continue
		}
		static := !k.Can.Has(family.CanAdd)
		choice, why := tryKind(k, n)
		if why == "" && n.FPR == 0 && float64(choice.Bits) < n.leastBits(k) {
			why = "is smaller than the size"
		}
		switch {
		case why != "":
			refused = refused || static
		case static || !refused:
			return choice, true
		case k.Can.Has(family.CanCount) && !n.Count: // counters that nobody needs make it larger
		default:
			others = append(others, choice)
		}
	}

	n.sortChoices(others)
	if len(others) == 0 {
		return Choice{}, false
	}
	return others[0], true
}

// leastBits returns the fewest bits of a filter that counts as having the requested size: nine tenths of it, or one bit
// per key fewer, and in families of cache lines one line fewer.
func (n *Needs) leastBits(k kind) float64 {
	least := min(0.9*n.budget(), n.budget()-float64(n.totalKeys()))
	if k.Can.Has(family.CanOneLine) {
		return least - 512
	}
	return least
}

// preferred returns the forms that Lasting tries, in order.
func preferred() []kind {
	all := slices.DeleteFunc(allKinds(), func(k kind) bool { return k.Default == 0 })
	slices.SortFunc(all, func(a, b kind) int { return a.Default - b.Default })
	return all
}
