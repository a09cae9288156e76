package bench

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery/family/blocked"
	"github.com/bloomery/bloomery/family/blockpartitioned"
	"github.com/bloomery/bloomery/family/fuse"
	"github.com/bloomery/bloomery/family/partitioned"
	"github.com/bloomery/bloomery/family/standard"
)

var (
	full  = flag.Bool("full", false, "measure at 1M and 20M keys instead of 100k")
	count = flag.Int("keys", 0, "measure at so many keys")
	turns = flag.Int("turns", 9, "turns of each pair")
)

func sizes() []int {
	switch {
	case *count != 0:
		return []int{*count}
	case *full:
		return []int{1_000_000, 20_000_000}
	}
	return []int{100_000}
}

type contender struct {
	name string
	ask  asker
}

func contenders(t testing.TB, keys []uint64) []contender {
	std := ours(t, fmt.Sprintf("standard(bits_per_key=%d,k=7)", bitsPerKey), keys)
	line := ours(t, fmt.Sprintf("blocked(bits_per_key=%d)", bitsPerKey), keys)
	split := ours(t, fmt.Sprintf("blocked(bits_per_key=%d,layout=split)", bitsPerKey), keys)
	f8 := ours(t, "fuse(width=8)", keys)
	part := ours(t, "partitioned(bits_per_key=8,effort=fast)", keys)
	blk := ours(t, "blockpartitioned(bits_per_key=8,effort=fast)", keys)
	line8 := ours(t, "blocked(bits_per_key=8)", keys)
	return []contender{
		{"standard", standardOne(std.(*standard.Filter))},
		{"standard-many", many(std)},
		{"blocked-line", blockedOne(line.(*blocked.Filter))},
		{"blocked-line-many", many(line)},
		{"blocked-split", blockedOne(split.(*blocked.Filter))},
		{"blocked-split-many", many(split)},
		{"fuse8", fuseOne(f8.(*fuse.Filter))},
		{"fuse8-many", many(f8)},
		{"partitioned-8", partitionedOne(part.(*partitioned.Filter))},
		{"partitioned-8-many", many(part)},
		{"blockpart-8", blockpartitionedOne(blk.(*blockpartitioned.Filter))},
		{"blockpart-8-many", many(blk)},
		{"blocked-line-8", blockedOne(line8.(*blocked.Filter))},
		{"bits-and-blooms", bitsAndBlooms(keys, bitsPerKey, 7)},
		{"bits-and-blooms-8", bitsAndBlooms(keys, 8, 6)},
		{"holiman", holimanBloom(keys)},
		{"parquet-go", parquetSplitBlock(keys)},
		{"FastFilter-fuse8", binaryFuse8(keys)},
	}
}

// pairs are the ratios that are reported: time of the first over time of the second.
var pairs = [][2]string{
	{"standard", "bits-and-blooms"}, {"standard", "holiman"},
	{"blocked-line", "parquet-go"}, {"blocked-split", "parquet-go"}, {"fuse8", "FastFilter-fuse8"},
	{"partitioned-8", "bits-and-blooms-8"}, {"partitioned-8", "FastFilter-fuse8"}, {"partitioned-8-many", "partitioned-8"},
	{"blockpart-8", "FastFilter-fuse8"}, {"blockpart-8", "fuse8"}, {"blockpart-8", "blocked-line-8"}, {"blockpart-8-many", "blockpart-8"},
	{"standard-many", "standard"}, {"blocked-line-many", "blocked-line"}, {"blocked-split-many", "blocked-split"}, {"fuse8-many", "fuse8"},
}

// TestRatios prints the ratios; it judges nothing, for the machine is shared. It fails only if a filter loses a key.
func TestRatios(t *testing.T) {
	runtime.LockOSThread()
	for _, n := range sizes() {
		present, absent := randomKeys(n, 1), randomKeys(n, 2)
		all := contenders(t, present)
		for _, kind := range []struct {
			name string
			keys []uint64
		}{{"present", present}, {"absent", absent}} {
			part := kind.keys[:min(n, 1_000_000)]
			times := map[string][]float64{}
			for range *turns {
				for _, c := range all {
					start := time.Now()
					hits := c.ask(part)
					times[c.name] = append(times[c.name], float64(time.Since(start).Nanoseconds())/float64(len(part)))
					if kind.name == "present" && hits != len(part) {
						t.Fatalf("%s lost %d keys", c.name, len(part)-hits)
					}
				}
			}
			for _, c := range all {
				fmt.Printf("n=%-9d %-8s %-20s %6.1f ns\n", n, kind.name, c.name, quantile(times[c.name], 0.5))
			}
			for _, p := range pairs {
				var ratios []float64
				for i, x := range times[p[0]] {
					ratios = append(ratios, x/times[p[1]][i])
				}
				fmt.Printf("n=%-9d %-8s %18s / %-17s %.2f  (middle half %.2f to %.2f)\n", n, kind.name, p[0], p[1],
					quantile(ratios, 0.5), quantile(ratios, 0.25), quantile(ratios, 0.75))
			}
		}
	}
}

func quantile(v []float64, q float64) float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	return s[int(q*float64(len(s)-1)+0.5)]
}
