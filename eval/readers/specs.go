package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// plan describes a random filter to build.
type plan struct {
	family families.Family
	spec   string
	hash   filter.HashID // hash of another system, or 0
	keys   int
	// change is a change of the filter after its keys were added.
	change change
	shards int // 0: a single file
	// valueBits is the number of bits of a value, for a family that takes the values together with the keys.
	valueBits int
}

// change is a way to make a filter other than by a build.
type change string

const (
	built       change = "built"       // filter of a Builder
	added       change = "added"       // key by key, to an empty filter
	addedLater  change = "added later" // built, then more keys were added
	addedAgain  change = "added again" // keys were added several times
	removed     change = "removed"     // half of the keys were removed
	merged      change = "merged"      // union of two filters
	intersected change = "intersected" // intersection of two filters
	trimmed     change = "trimmed"
)

// newPlan returns a random plan for one of the families. most is the largest number of keys.
func newPlan(r *rand.Rand, all []families.Family, most int) plan {
	p := plan{family: all[r.IntN(len(all))], change: built}
	p.keys = manyKeys(r, most)
	if p.family.Can.Has(family.CanSearch) && p.keys > 30_000 && r.IntN(8) != 0 {
		p.keys = r.IntN(30_000) // searches are slow
	}
	params := map[string]string{}
	specs[p.family.Name](&p, r, params)
	p.spec = specOf(p.family.Name, params)
	p.change = newChange(p.family, r, params)
	if p.change == addedLater && p.family.Takes("later") {
		params["later"] = fmt.Sprint(1 + r.IntN(p.keys+1))
		p.spec = specOf(p.family.Name, params)
	}
	if p.change == built && !p.family.Can.Has(family.CanRawKeys) && params["k"] == "" && p.valueBits == 0 &&
		r.IntN(8) == 0 {
		p.shards = 1 + r.IntN(9)
	}
	return p
}

// manyKeys returns a number of keys, often a small one, so that many filters can be tested.
func manyKeys(r *rand.Rand, most int) int {
	switch n := r.IntN(100); {
	case n < 3:
		return 0
	case n < 6:
		return 1
	case n < 20:
		return min(most, 2+r.IntN(100))
	case n < 85 || most < 50_000:
		return min(most, int(100*math.Pow(float64(max(most/10, 200))/100, r.Float64())))
	}
	return most/10 + r.IntN(most-most/10+1)
}

func newChange(f families.Family, r *rand.Rand, params map[string]string) change {
	has := f.Can.Has
	counts := has(family.CanCount) && (f.Name == "counting" || params["counting"] == "1")
	can := []change{built, built}
	for _, way := range []struct {
		can    bool
		change change
	}{
		{has(family.CanStartEmpty), added}, {has(family.CanAdd) && f.Name != "redisbloom", addedLater},
		{counts, addedAgain}, {counts, addedAgain}, {has(family.CanRemove), removed}, {has(family.CanMerge), merged},
		{has(family.CanIntersect), intersected}, {has(family.CanTrim), trimmed}, {has(family.CanTrim), trimmed},
	} {
		if way.can {
			can = append(can, way.change)
		}
	}
	return can[r.IntN(len(can))]
}

func specOf(family string, params map[string]string) string {
	var list []string
	for name, value := range params {
		list = append(list, name+"="+value)
	}
	if len(list) == 0 {
		return family
	}
	s, err := filter.ParseSpec(family + "(" + strings.Join(list, ",") + ")")
	if err != nil {
		panic(err)
	}
	return s.String()
}

// specs maps each family to a function that sets the parameters of a plan.
var specs = map[string]func(p *plan, r *rand.Rand, params map[string]string){
	"standard": func(p *plan, r *rand.Rand, params map[string]string) { probes(p, r, params, 1, 40, 64) },
	"counting": func(p *plan, r *rand.Rand, params map[string]string) { probes(p, r, params, 4, 100, 64) },
	"guava": func(p *plan, r *rand.Rand, params map[string]string) {
		size(r, params, 2, 30)
		params["strategy"] = []string{"32", "64"}[r.IntN(2)]
		maybe(r, params, "k", 1, 30, 255)
	},
	"spark": func(p *plan, r *rand.Rand, params map[string]string) {
		size(r, params, 2, 30)
		params["version"] = []string{"1", "2"}[r.IntN(2)]
		maybe(r, params, "k", 1, 30, 255)
	},
	"bitsandblooms": func(p *plan, r *rand.Rand, params map[string]string) {
		probes(p, r, params, 1, 40, 255)
		if m := params["m"]; m != "" && r.IntN(2) == 0 {
			var bits int
			fmt.Sscan(m, &bits)
			params["length"] = fmt.Sprint(bits + 1 + r.IntN(300))
		}
	},
	"dcso": func(p *plan, r *rand.Rand, params map[string]string) { probes(p, r, params, 1, 40, 255) },
	"redisbloom": func(p *plan, r *rand.Rand, params map[string]string) {
		params["fpr"] = rate(r, 1e-6)
		switch r.IntN(3) {
		case 0:
			params["capacity"] = fmt.Sprint(1 + p.keys/(1+r.IntN(20)))
			params["expansion"] = fmt.Sprint(1 + r.IntN(3))
		case 1:
			params["capacity"], params["expansion"] = fmt.Sprint(2*p.keys+10), "0"
		}
	},
	"blocked": func(p *plan, r *rand.Rand, params map[string]string) {
		if r.IntN(3) == 0 {
			params["layout"] = "split"
			if r.IntN(2) == 0 {
				p.hash = filter.XXH64
			}
		} else {
			maybe(r, params, "k", 1, 16, 32)
		}
		if r.IntN(5) == 0 {
			params["blocks"] = fmt.Sprint(1 + r.IntN(1+p.keys/20))
		} else {
			size(r, params, 3, 30)
		}
	},
	"fuse": func(p *plan, r *rand.Rand, params map[string]string) {
		params["width"] = fmt.Sprint(1 + r.IntN(32))
		if r.IntN(3) == 0 { // of FastFilter
			p.hash = filter.Uint64
		}
	},
	"ribbon": func(p *plan, r *rand.Rand, params map[string]string) {
		switch r.IntN(4) {
		case 0: // fractional rates
			params["fpr"] = rate(r, 1e-9)
		case 1:
			params["bits_per_key"] = fmt.Sprintf("%.3g", 1.5+20*r.Float64())
		default:
			params["r"] = fmt.Sprint(1 + r.IntN(8<<(2*r.IntN(2))))
		}
		if r.IntN(3) == 0 {
			params["w"] = "128"
		}
		if r.IntN(4) == 0 {
			p.valueBits = 1 + r.IntN(8<<(2*r.IntN(2)))
			params["value_bits"] = fmt.Sprint(p.valueBits)
			if r.IntN(2) == 0 {
				delete(params, "fpr")
				delete(params, "bits_per_key")
				params["r"] = "0"
			}
		}
	},
	"partitioned": func(p *plan, r *rand.Rand, params map[string]string) {
		size(r, params, 3, 40)
		params["effort"] = "fast"
	},
	"blockpartitioned": func(p *plan, r *rand.Rand, params map[string]string) {
		size(r, params, 4, 24)
		params["effort"] = "fast"
		if r.IntN(3) == 0 {
			params["block"] = "1024"
		}
	},
	"twochoice": func(p *plan, r *rand.Rand, params map[string]string) {
		size(r, params, 3, 30)
		params["passes"] = "1"
		maybe(r, params, "choices", 2, 5, 16)
	},
	"rankindexed": func(p *plan, r *rand.Rand, params map[string]string) {
		params["fpr"] = rate(r, 1e-9)
		switch r.IntN(5) {
		case 0:
			params["value_bits"] = fmt.Sprint(1 + r.IntN(8<<(2*r.IntN(2))))
		case 1, 2:
			params["counting"] = "1"
		}
		switch r.IntN(6) {
		case 0:
			params["bucket"] = fmt.Sprint(64 * (1 + r.IntN(32)))
		case 1:
			params["fast"] = "1"
		case 2, 3:
			params["growth"] = fmt.Sprint(1 + r.IntN(5))
			params["capacity"] = fmt.Sprint(1 + p.keys/(1<<r.IntN(5)))
		case 4:
			params["overflow"] = "0.1"
		}
	},
}

// size sets one of the sizes of a filter.
func size(r *rand.Rand, params map[string]string, least, most float64) {
	if r.IntN(3) == 0 {
		params["fpr"] = rate(r, math.Exp2(-most/2))
	} else {
		params["bits_per_key"] = fmt.Sprintf("%.3g", least+r.Float64()*(most-least))
	}
}

// rate returns a random false-positive rate of at least least.
func rate(r *rand.Rand, least float64) string {
	return fmt.Sprintf("%.3g", math.Pow(least/0.4, r.Float64())*0.4)
}

// maybe sets an integer in half of the cases, usually to at most usual.
func maybe(r *rand.Rand, params map[string]string, name string, least, usual, most int) {
	switch r.IntN(8) {
	case 0:
		params[name] = fmt.Sprint(least + r.IntN(most-least+1))
	case 1, 2, 3:
		params[name] = fmt.Sprint(least + r.IntN(usual-least+1))
	}
}

// probes sets a size and k for families of m cells and k probes.
func probes(p *plan, r *rand.Rand, params map[string]string, least, most float64, mostK int) {
	maybe(r, params, "k", 1, 20, mostK)
	if r.IntN(4) == 0 {
		params["m"] = fmt.Sprint(1 + r.IntN(20*(p.keys+1)))
	} else {
		size(r, params, least, most)
	}
}
