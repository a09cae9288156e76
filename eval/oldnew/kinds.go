package main

import (
	"fmt"
	"regexp"
	"strings"
)

// kind is one kind of files. The scripts are commands of bloomery, one per line, in a folder of their own. IN is the
// folder of inputs, REPO the folder of the checkout. "run" and "all" before a command: see exchange.play.
type kind struct {
	name   string
	make   string // makes the files
	ask    string // queries the files, in a copy of the folder
	change string // changes the files; "" if nothing does
	again  string // changes them further
	after  string // queries the changed files, with ask
	// dated matches files with times or random numbers, whose bytes differ between two runs of one version.
	dated *regexp.Regexp
}

// allKinds returns the kinds whose names match.
func allKinds(root string, choice *regexp.Regexp) (chosen []kind, err error) {
	specs, err := specKinds(root)
	if err != nil {
		return nil, err
	}
	for _, list := range [][]kind{specs, formKinds, deltaKinds(), otherKinds, foreignKinds()} {
		for _, k := range list {
			if choice.MatchString(k.name) {
				chosen = append(chosen, k)
			}
		}
	}
	if chosen == nil {
		return nil, fmt.Errorf("--kinds %s: no kind has such a name; see --list", choice)
	}
	return chosen, nil
}

// states are the states of dedup: with --ttl by the clock they have times, and locks are files beside them.
var states = regexp.MustCompile(`state`)

// formKinds are filters of keys in a form, with values, with counts, and with exceptions.
var formKinds = []kind{
	{
		name: "keys --trim --lower",
		make: `build -o a.bloom --spec standard --trim --lower --capacity 200000 IN/odd
build -o r.bloom --spec ribbon --trim --lower IN/odd`,
		ask: `all check a.bloom --trim --lower IN/odd
check a.bloom --trim --lower IN/asked
check r.bloom --trim --lower IN/asked`,
		change: "run add --trim --lower a.bloom IN/more1",
		again:  "run add --trim --lower a.bloom IN/more2",
		after:  "all check a.bloom --trim --lower IN/more1",
	},
	{
		name: "keys hex and integers",
		make: "build -o a.bloom --spec fuse(width=8) --hash uint64 --input-format hex IN/hex",
		ask:  "all check a.bloom --input-format hex IN/hex\ncheck a.bloom --input-format hex IN/asked.hex",
	},
	{
		name:   "keys xxh64",
		make:   "build -o a.bloom --spec blocked(layout=split) --hash xxh64 --capacity 200000 IN/present",
		ask:    "all check a.bloom IN/present\ncheck a.bloom IN/asked",
		change: "run add a.bloom IN/more1",
		again:  "run add a.bloom IN/more2",
	},
	{
		name: "keys typed columns of Parquet",
		make: `convert REPO/interop/testdata/types-parquet-mr.parquet --column i32 -o i32.bloom
convert REPO/interop/testdata/types-pyarrow.parquet --column date -o date.bloom
convert REPO/interop/testdata/types-duckdb.parquet --column dec9 -o dec.bloom`,
		ask: "check i32.bloom IN/numbers\ncheck dec.bloom IN/decimals\nrun info date.bloom",
	},
	{
		name: "exceptions",
		make: `build -o s.bloom --spec standard --allow IN/absent IN/present
build -o r.bloom --spec ribbon(r=5) --allow IN/absent IN/present
build -o f.bloom --spec fuse(width=4) --secret-file IN/secret --allow IN/absent IN/present`,
		ask: `all check s.bloom IN/present
check s.bloom IN/asked
check r.bloom IN/asked
check f.bloom --secret-file IN/secret IN/asked
check -c s.bloom IN/absent`,
		change: "run build -o r.bloom --like r.bloom --allow IN/absent IN/present IN/more1",
		again:  "run build -o s.bloom --like s.bloom --allow IN/absent IN/present IN/more1",
		after:  "all check r.bloom IN/more1",
	},
	{
		name:   "values rankindexed",
		make:   "build -o a.bloom --spec rankindexed --value-bits 8 --capacity 200000 IN/values",
		ask:    "all check a.bloom IN/present\nget a.bloom IN/asked",
		change: "run add a.bloom IN/values1",
		again:  "run put a.bloom IN/values1",
	},
	{
		name: "values ribbon",
		make: `build -o a.bloom --spec ribbon(value_bits=8) IN/values
build -o z.bloom --spec ribbon(r=0,value_bits=8) IN/values`,
		ask: "all check a.bloom IN/present\nget a.bloom IN/asked\nget z.bloom IN/present",
	},
	{
		name:   "counts rankindexed",
		make:   "build -o a.bloom --spec rankindexed --counting --capacity 400000 IN/present IN/half IN/first",
		ask:    "all check a.bloom IN/present\ncount a.bloom IN/asked",
		change: "run add a.bloom IN/half",
		again:  "run remove --force a.bloom IN/half",
	},
	{
		name: "intersection",
		make: `build -o a.bloom --spec standard --capacity 200000 IN/present
build -o b.bloom --spec standard --capacity 200000 IN/half`,
		ask:    "all check a.bloom IN/half\ncheck a.bloom IN/asked",
		change: "run intersect -o a.bloom a.bloom b.bloom",
		again:  "run merge -o a.bloom a.bloom b.bloom",
	},
	{
		name: "search continued",
		make: "build -o a.bloom --spec partitioned(later=20000,passes=2) IN/present",
		ask:  "all check a.bloom IN/present\ncheck a.bloom IN/asked",
		change: `run add a.bloom IN/more1
run optimize a.bloom --effort fast --keys IN/present --keys IN/more1`,
		again: "run add a.bloom IN/more2",
		after: "all check a.bloom IN/more1",
	},
}

// deltaKinds are deltas between versions of filters, of exact sets and of sharded sets.
func deltaKinds() (kinds []kind) {
	for _, spec := range []string{
		"standard", "blocked", "counting", "rankindexed(capacity=200000)", "rankindexed(growth=3)", "ribbon", "fuse",
		"partitioned(later=20000,passes=2)", "blockpartitioned(later=20000,passes=2)", "twochoice(passes=2)",
	} {
		kinds = append(kinds, kind{
			name: "delta " + spec,
			make: fmt.Sprintf(`build -o a.bloom --spec %s IN/present
build -o b.bloom --like a.bloom IN/present IN/more1
diff a.bloom b.bloom -o d`, spec),
			ask:    "patch a.bloom d -o c.bloom\nall check c.bloom IN/present\ncheck c.bloom IN/asked",
			change: "run build -o c.bloom --like b.bloom IN/present IN/more1 IN/more2\nrun diff b.bloom c.bloom -o e",
			again:  "run patch a.bloom d -o a.bloom\nrun patch a.bloom e -o a.bloom",
			after:  "all check a.bloom IN/more2",
		})
	}
	return append(kinds,
		kind{
			name: "delta exact",
			make: `exact build -o a.exact --members IN/present --universe IN/universe
exact build -o b.exact --members IN/present --universe IN/universe --universe IN/more1
exact update -o u.exact --base a.exact --members IN/kept --shrink=90% --universe IN/universe
diff a.exact b.exact -o d
diff a.exact u.exact -o e`,
			ask: `patch a.exact d -o c.exact
exact check c.exact IN/universe
patch a.exact e -o f.exact
exact check f.exact IN/universe`,
		},
		kind{
			name: "delta sharded",
			make: `build -o a.set --shards 3 --spec rankindexed --capacity 200000 IN/present
build -o b.set --like a.set IN/present IN/more1
diff a.set b.set -o d`,
			ask: "patch a.set d -o c.set\nall check c.set IN/present\ncheck c.set IN/asked",
		},
	)
}

// otherKinds are the files that are not filters, and folders.
var otherKinds = []kind{
	{
		name: "exact",
		make: `exact build -o a.exact --members IN/present --universe IN/universe
exact build -o k.exact --secret-file IN/secret --members IN/present --universe IN/universe
exact build -o p --members IN/parts.csv --universe IN/all.csv --input-format csv --column key --partition-column part
exact update -o u.exact --base a.exact --shrink=90% --members IN/kept --universe IN/universe`,
		ask: `all exact check a.exact IN/present
exact check a.exact IN/universe
exact check k.exact --secret-file IN/secret IN/universe
exact check p --input-format csv --column key --partition-column part IN/all.csv
exact check u.exact IN/universe
exact verify u.exact --members IN/kept --universe IN/universe
run exact info a.exact`,
		change: "run exact update -o a.exact --base a.exact --shrink=90% --members IN/half --universe IN/universe",
		again:  "run exact update -o a.exact --base a.exact --shrink=90% --members IN/present --universe IN/universe",
	},
	{
		name: "state of dedup",
		make: `dedup --keys 1000000 --state a.state IN/present
dedup --state grows.state IN/present
dedup --keys 1000000 --secret-file IN/secret --state k.state IN/present`,
		ask: `check a.state IN/asked
check grows.state IN/asked
check k.state --secret-file IN/secret IN/asked
run info a.state`,
		change: `dedup --keys 1000000 --state a.state IN/more1 IN/half
dedup --state grows.state IN/more1 IN/half
dedup --keys 1000000 --secret-file IN/secret --state k.state IN/more1 IN/half`,
		again: "dedup --keys 1000000 --state a.state IN/more1 IN/more2\ndedup --state grows.state IN/more1 IN/more2",
		after: "all check a.state IN/kept",
		dated: states,
	},
	{
		name: "state of dedup --ttl",
		make: `dedup --keys 1000000 --ttl 700d --state a.state IN/present
dedup --keys 1000000 --ttl 700d --refresh --state r.state IN/present
dedup --keys 1000000 --ttl 700d --secret-file IN/secret --state k.state IN/present
dedup --keys 1000000 --ttl 2h --input-format csv --column key --time-column at --state t.state IN/timed.csv`,
		ask: `check a.state IN/asked
check r.state IN/asked
check k.state --secret-file IN/secret IN/asked
check t.state IN/asked
run info t.state`,
		change: `dedup --keys 1000000 --ttl 700d --state a.state IN/more1 IN/half
dedup --keys 1000000 --ttl 700d --refresh --state r.state IN/more1 IN/half
dedup --keys 1000000 --ttl 2h --input-format csv --column key --time-column at --state t.state IN/later.csv`,
		again: `dedup --keys 1000000 --ttl 700d --state a.state IN/more2 IN/half
dedup --keys 1000000 --ttl 700d --secret-file IN/secret --state k.state IN/more1 IN/half
dedup --keys 1000000 --ttl 2h --input-format csv --column key --time-column at --state t.state IN/later.csv`,
		dated: states,
	},
	{
		name: "sharded set",
		make: `build -o a.set --shards 4 --spec standard --capacity 200000 IN/present
build -o c.set --shards 4 --spec counting --capacity 200000 IN/present
build -o r.set --shards 3 --spec ribbon --secret-file IN/secret IN/present
build -o v.set --shards 2 --spec ribbon --value-bits 8 IN/values
build -o m.set --shards 4 --spec standard --capacity 200000 IN/absent`,
		ask: `all check a.set IN/kept
check a.set IN/asked
count c.set IN/asked
check r.set --secret-file IN/secret IN/asked
check a.set/00001-of-00004.bloom IN/asked
get v.set IN/asked
run info a.set
run verify --random 1000 r.set --secret-file IN/secret --members IN/kept`,
		change: `run add a.set IN/more1
run add c.set IN/more1
run remove --force c.set IN/gone1
run build -o r.set --like r.set --secret-file IN/secret IN/present IN/more1`,
		again: `run add a.set IN/more2
run remove --force c.set IN/gone2
run merge -o a.set a.set m.set`,
		after: "all check a.set IN/more1\nall check a.set IN/more2\nall check r.set --secret-file IN/secret IN/more1",
	},
	{
		name: "plan of a sharded set",
		make: "shard plan -o a.set --shards 4 --range-bytes 256KiB --spec blocked IN/present IN/more1\n" +
			"shard range a.set --every 0/2",
		ask: "run shard plan -o a.set --shards 4 --range-bytes 256KiB --spec blocked IN/present IN/more1",
		change: `run shard range a.set --all
run shard build a.set 0 1`,
		again: `run shard build a.set --all
run shard finish a.set`,
		after: "all check a.set IN/present\nall check a.set IN/more1\ncheck a.set IN/asked",
		dated: regexp.MustCompile(`lock`),
	},
	{
		name: "release signed",
		make: `keygen -o key
build -o v.bloom --spec rankindexed --capacity 200000 IN/present
publish site v.bloom --sign key --name list
follow site -o copy.bloom --once --key key.pub
build -o v.bloom --like v.bloom IN/present IN/more1
publish site v.bloom --sign key`,
		ask: `run publish site --check --key key.pub
run follow site -o copy.bloom --once --key key.pub
run follow site -o fresh.bloom --once --key key.pub
all check copy.bloom IN/kept
check copy.bloom IN/asked
check fresh.bloom IN/asked`,
		change: `run build -o v.bloom --like v.bloom IN/kept IN/more1 IN/more2
run publish site v.bloom --sign key
run follow site -o copy.bloom --once --key key.pub
run publish site v.bloom --sign key --renew`,
		again: `run build -o v.bloom --like v.bloom IN/present IN/more2
run publish site v.bloom --sign key
run follow site -o copy.bloom --once --key key.pub`,
		after: "all check copy.bloom IN/more2\nall check fresh.bloom IN/present",
		dated: regexp.MustCompile(`key|release|state|follow|lock|objects`),
	},
	{
		name: "release with other keys",
		make: `keygen -o key
keygen -o next
build -o v.bloom --spec fuse IN/present
publish site v.bloom --sign key --name list
follow site -o copy.bloom --once --key key.pub --key next.pub
build -o v.bloom --spec fuse IN/present IN/more1
publish site v.bloom --sign next --rotate key.pub`,
		ask: `run publish site --check --key next.pub
run follow site -o copy.bloom --once --key key.pub --key next.pub
all check copy.bloom IN/present
check copy.bloom IN/asked`,
		change: `run build -o v.bloom --spec fuse IN/present IN/more2
run publish site v.bloom --sign next
run follow site -o copy.bloom --once --key next.pub`,
		again: `run build -o v.bloom --spec fuse IN/present IN/more1 IN/more2
run publish site v.bloom --sign next --sign key
run follow site -o copy.bloom --once --key key.pub --key next.pub`,
		dated: regexp.MustCompile(`key|next|release|state|follow|lock|objects`),
	},
	{
		name: "release unsigned, of a sharded set",
		make: `build -o v.set --shards 3 --spec standard --capacity 200000 IN/present
publish site v.set --name list
follow site -o copy.set --once --insecure
add v.set IN/more1
publish site v.set`,
		ask: `run publish site --check
run follow site -o copy.set --once --insecure
all check copy.set IN/present
all check copy.set IN/more1
check copy.set IN/asked`,
		change: "run add v.set IN/more2\nrun publish site v.set\nrun follow site -o copy.set --once --insecure",
		again:  "run add v.set IN/absent\nrun publish site v.set\nrun follow site -o copy.set --once --insecure",
		after:  "all check copy.set IN/absent",
		dated:  regexp.MustCompile(`release|follow|lock|objects`),
	},
	{
		name: "release of an exact set",
		make: `exact build -o v.exact --members IN/present --universe IN/universe
publish site v.exact --name list
follow site -o copy.exact --once --insecure
exact update -o v.exact --base v.exact --shrink=90% --members IN/kept --universe IN/universe
publish site v.exact --shrink=90%`,
		ask: `run publish site --check
run follow site -o copy.exact --once --insecure
exact check copy.exact IN/universe`,
		change: `run exact update -o v.exact --base v.exact --members IN/present --universe IN/universe
run publish site v.exact
run follow site -o copy.exact --once --insecure`,
		again: `run exact update -o v.exact --base v.exact --shrink=90% --members IN/half --universe IN/universe
run publish site v.exact --shrink=90%`,
		dated: regexp.MustCompile(`release|follow|lock|objects`),
	},
}

// foreignKinds are the formats of other systems: filters that convert writes, and files that these systems wrote.
func foreignKinds() (kinds []kind) {
	for _, f := range []struct{ name, flags string }{
		{"guava", "--spec guava"}, {"guava 32", "--spec guava(strategy=32)"},
		{"spark", "--spec spark"}, {"spark 2", "--spec spark(version=2)"},
		{"dcso", "--spec dcso"}, {"bits-and-blooms", "--spec bitsandblooms"}, {"redisbloom", "--spec redisbloom"},
		{"parquet", "--spec blocked(layout=split) --hash xxh64"},
	} {
		kinds = append(kinds, kind{
			name: "format " + f.name,
			make: "build -o a.bloom " + f.flags + " IN/present\nconvert a.bloom -o out",
			ask:  "convert out -o b.bloom\nall check b.bloom IN/present\ncheck b.bloom IN/asked\nconvert b.bloom -o again",
		})
	}
	for _, to := range []string{"xorfilter8", "fastfilter8", "xorf8"} {
		kinds = append(kinds, kind{
			name: "format " + to,
			make: "build -o a.bloom --spec fuse(width=8) --hash uint64 --input-format hex IN/hex\n" +
				"convert --to " + to + " a.bloom -o out",
			ask: "convert --from " + to + ` out -o b.bloom
all check b.bloom --input-format hex IN/hex
check b.bloom --input-format hex IN/asked.hex`,
		})
	}
	for _, file := range strings.Fields(`bitsandblooms-words.bin bitsandblooms.bin dcso-data.bin dcso.bin fastfilter16.bin
		fastfilter8.bin guava-32.bin guava-64.bin parquet.bin redisbloom.bin spark-v1.bin spark-v2.bin xorf16.bin xorf32.bin
		xorf8.bin`) {
		hex := "--input-format hex IN/asked.hex"
		kinds = append(kinds, kind{
			name: "format file " + file,
			make: "convert REPO/interop/testdata/" + file + " -o a.bloom",
			ask:  "check a.bloom " + hex + "\nconvert a.bloom -o out\nrun info a.bloom",
		})
	}
	for _, c := range []string{"pyarrow.parquet --column name", "duckdb.parquet --column addr.city"} {
		kinds = append(kinds, kind{
			name: "format file " + c,
			make: "convert REPO/interop/testdata/" + c + " --row-group 0 -o a.bloom",
			ask:  "check a.bloom IN/asked\nconvert a.bloom -o out",
		})
	}
	return kinds
}
