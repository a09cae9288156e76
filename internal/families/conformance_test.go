package families

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// specs are the sizes that the conformance suite tries for each family. Of each family that searches, one has a
// named effort: the laws do not depend on the length of a search, but most of the time of the suite does.
var specs = map[string][]string{
	"standard": {"standard(bits_per_key=4)", "standard(fpr=0.01)", "standard(bits_per_key=17.3)", "standard(bits_per_key=24)", "standard(bits_per_key=40)", "standard(bits_per_key=8,k=1)"},
	"blocked": {"blocked(bits_per_key=4)", "blocked(fpr=0.01)", "blocked(bits_per_key=24)", "blocked(bits_per_key=10,k=9)", "blocked(bits_per_key=4,layout=split)",
		"blocked(bits_per_key=10,layout=split)", "blocked(fpr=0.001,layout=split)"},
	"fuse": {"fuse(width=1)", "fuse(bits_per_key=6)", "fuse(fpr=0.01)", "fuse", "fuse(width=13)", "fuse(width=16)", "fuse(width=21)", "fuse(width=32)"},
	"partitioned": {"partitioned(bits_per_key=4,passes=4)", "partitioned(effort=fast,fpr=0.01)",
		"partitioned(bits_per_key=9.7,passes=4)", "partitioned(bits_per_key=24,passes=4)", "partitioned(bits_per_key=40,passes=4)"},
	"blockpartitioned": {"blockpartitioned(bits_per_key=4,passes=4)", "blockpartitioned(effort=fast,fpr=0.01)",
		"blockpartitioned(bits_per_key=9.7,passes=4)",
		"blockpartitioned(bits_per_key=20,passes=4)", "blockpartitioned(bits_per_key=8,block=1024,passes=4)",
		"blockpartitioned(bits_per_key=24,block=1024,passes=4)"},
	"twochoice": {"twochoice(bits_per_key=4,passes=3)", "twochoice(effort=fast,fpr=0.01)", "twochoice(bits_per_key=9.7,choices=2,passes=4,search=greedy)", "twochoice(bits_per_key=24,passes=1)",
		"twochoice(bits_per_key=8,choices=8,k=6,passes=2)", "twochoice(bits_per_key=12,hashing=double,passes=4)"},
	"rankindexed": {"rankindexed(bits_per_key=6)", "rankindexed(fpr=0.01)", "rankindexed(fpr=0.0003)", "rankindexed(bucket=512,fpr=0.03)", "rankindexed(counting=1,fpr=0.01)",
		"rankindexed(fpr=0.01,value_bits=9)", "rankindexed(bits_per_key=40)", "rankindexed(bucket=8192,fpr=0.001)", "rankindexed(fpr=0.02,growth=2)"},
	"counting": {"counting(bits_per_key=8)", "counting(fpr=0.01)", "counting(bits_per_key=69.3)", "counting(bits_per_key=96)", "counting(bits_per_key=32,k=1)", "counting(bits_per_key=30,k=64)"},
	"ribbon": {"ribbon(r=1)", "ribbon(fpr=0.01)", "ribbon(r=8,w=128)", "ribbon(bits_per_key=3.4,w=128)",
		"ribbon(r=13,wide=500)", "ribbon(bits_per_key=17)", "ribbon(r=32)"},
	"spark": {"spark(bits_per_key=4)", "spark(fpr=0.01)", "spark(bits_per_key=17.3,version=2)",
		"spark(fpr=0.001,version=2)", "spark(bits_per_key=8,k=1)"},
	"guava":      {"guava(bits_per_key=4)", "guava(fpr=0.01)", "guava(bits_per_key=17.3)", "guava(fpr=0.001,strategy=32)", "guava(bits_per_key=8,k=1)"},
	"redisbloom": {"redisbloom(fpr=0.01)", "redisbloom(expansion=0,fpr=0.001)", "redisbloom(bits_per_key=12)", "redisbloom(capacity=20000,fpr=0.01)"},
}

func conformance(f Family) filtertest.Family {
	return filtertest.Family{
		New: f.New, NewBuilder: f.NewBuilder, NewBuilderLike: f.NewBuilderLike,
		Moves:        f.Name == "fuse" || f.Name == "ribbon",
		SectionWords: f.SectionWords, Decode: f.Decode, Specs: specs[f.Name], Searched: f.Can.Has(family.CanSearch),
	}
}

func TestConformance(t *testing.T) {
	for _, f := range All() {
		if f.Can.Has(family.CanRawKeys) {
			continue // takes no hashes; its own package holds it to the same laws
		}
		if len(specs[f.Name]) == 0 {
			t.Errorf("family %s has no specs to try", f.Name)
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			filtertest.Run(t, conformance(f))
		})
	}
}

// TestDocumentedIDs holds the descriptions of the format to the list of families.
func TestDocumentedIDs(t *testing.T) {
	for _, path := range []string{"../container/format.go", "../../docs/format.md"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range All() {
			if id := fmt.Sprintf("%d %s", f.ID, f.Name); !bytes.Contains(text, []byte(id)) {
				t.Errorf("%s does not list %q", path, id)
			}
		}
	}
	for _, f := range All() {
		page, err := os.ReadFile("../../docs/format/" + f.Name + ".md")
		if err != nil {
			t.Error(err)
		}
		want := fmt.Sprintf("Family %d of the [file format](../format.md)", f.ID)
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("docs/format/%s.md lacks %q", f.Name, want)
		}
	}
}

// TestCheck has Check refuse what no number of keys makes right, and nothing that some number does.
func TestCheck(t *testing.T) {
	for _, f := range All() {
		for text, want := range map[string]bool{"bytes=64": true, "bytes=1000000": true, "bits_per_key=9": true, "fpr=0.01": true,
			"fpr=2": false, "nonsense=1": false, "bytes=9,fpr=0.1": false} {
			s, err := filter.ParseSpec(f.Name + "(" + text + ")")
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Check(s); (err == nil) != want {
				t.Errorf("%s: %v", s, err)
			}
		}
	}
}
