package figure

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile is a text that does harm unless it is escaped, and that breaks a table unless it is put on one line.
const hostile = "<script>alert(\"1\")</script> & 'a',\n=cmd|' /C calc'!A0"

// madeUp returns a result with a row of every kind.
func madeUp() Result {
	r := Result{Name: "made-up", Source: "a paper, table 1", Seed: 7, Trials: 3, Notes: []string{"a note", hostile}}
	r.Rows = []Row{
		Mean("agrees", []float64{0.0099, 0.01, 0.0101}).Against(0.0101, 0.001),
		Mean("differs", []float64{0.0199, 0.02, 0.0201}).Against(0.03, 0.001).Noted("%s", "because"),
		Exact(hostile, 1.66e-8).Noted("%s", hostile),
		Exact("nothing came out", math.NaN()).Against(40_000, 1),
		Exact("too much", math.Inf(1)),
	}
	r.Plots = []Plot{{
		Name: "made-up", Title: hostile, X: hostile, Y: "rate", LogY: true,
		Curves: []Curve{
			{
				Name:   hostile,
				Points: [][2]float64{{1, 0}, {2, 0.5}, {3, math.NaN()}, {4, 0.25}},
				Bars:   [][2]float64{{0, 0}, {0.4, 0.6}, {0, 0}, {0.2, 0.3}},
				Labels: []string{"cut off", hostile, "cut off", "one beside a point"},
			},
			{Name: "empty", Dots: true}, Level("none above zero", 1, -1),
		},
	}}
	return r
}

func TestWriteText(t *testing.T) {
	r := madeUp()
	r.Rows, r.Notes = r.Rows[:3], r.Notes[:1]
	r.Rows[2].Label, r.Rows[2].Note = "computed\nonce", "in\nhalves"
	r.Plots[0].Title = "a\ncaption"
	want := `made-up (a paper, table 1): 3 trials, seed 7
  label          published  measured  95% interval         agrees
  agrees            0.0101      0.01  0.009752 to 0.01025  yes
  differs             0.03      0.02  0.01975 to 0.02025   NO      because
  computed once              1.66e-8                               in halves
  * a note
  plot: a caption
`
	var got strings.Builder
	if err := r.WriteText(&got); err != nil {
		t.Fatal(err)
	}
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}

	r.Rows[1].Note = strings.Repeat("words and words ", 20)
	got.Reset()
	if err := r.WriteText(&got); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(got.String(), "\n")
	for _, line := range lines {
		if utf8.RuneCountInString(line) > textWidth {
			t.Errorf("too wide: %q", line)
		}
	}
	if at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "      words") }); at < 0 ||
		!strings.Contains(lines[at-1], "NO") {
		t.Errorf("a long note is not below its row:\n%s", got.String())
	}
}

func TestRounded(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.0098: "0.0098", 1.0 / 3: "0.3333", 12345.6: "12346", 133604: "133604", 1.661e-8: "1.661e-8",
		1e20: "1e20", -2: "-2",
		math.Inf(-1): "-Inf", math.Copysign(0, -1): "0",
	} {
		if got := rounded(v); got != want {
			t.Errorf("rounded(%g) = %q, want %q", v, got, want)
		}
	}
}

func TestWriteCSV(t *testing.T) {
	var b bytes.Buffer
	if err := madeUp().WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != 6 {
		t.Fatalf("%d lines: %v", len(lines), err)
	}
	if got := strings.Join(lines[0],
		","); got != "name,source,seed,trials,label,published,measured,low,high,tolerance,agrees,note" {
		t.Errorf("header %s", got)
	}
	if l := lines[2]; l[0] != "made-up" || l[4] != "differs" || l[5] != "0.03" || l[9] != "0.001" || l[10] != "false" ||
		l[11] != "because" {
		t.Errorf("%q", l)
	}
	if l := lines[3]; l[4] != hostile || l[5] != "" || l[6] != "1.66e-08" || l[9] != "" || l[10] != "" {
		t.Errorf("%q", l)
	}
}

func TestWriteJSON(t *testing.T) {
	r := madeUp()
	r.DropNonFinite()
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Name string
		Rows []struct {
			Label     string
			Published *float64
			Measured  *float64
			Agrees    *bool
		}
		Plots []Plot
	}
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if back.Name != "made-up" || len(back.Rows) != 5 || back.Rows[2].Label != hostile ||
		*back.Rows[1].Measured != 0.02 ||
		*back.Rows[1].Agrees {
		t.Errorf("%+v", back)
	}
	if r := back.Rows[3]; r.Measured != nil || *r.Published != 40_000 || *r.Agrees {
		t.Errorf("a value that is not finite: %+v", r)
	}
	if c := back.Plots[0].Curves[0]; len(c.Points) != 3 || len(c.Bars) != 3 || c.Bars[2][0] != 0.2 {
		t.Errorf("%+v", c)
	}
}
