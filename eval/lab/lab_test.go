package lab

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"testing"
)

// TestQuick runs every experiment in its quick form, checks its rows and draws its plots.
func TestQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	drawn := map[string]bool{} // names of plots, which must be distinct as files in one folder
	for _, e := range Experiments() {
		t.Run(e.Name, func(t *testing.T) {
			last := 0.0
			r, err := e.Do(t.Context(), Config{Quick: true, Trials: 1, Progress: func(done float64) {
				if done < last || done > 1 {
					t.Errorf("progress %g after %g", done, last)
				}
				last = done
			}})
			if err != nil {
				t.Fatal(err)
			}
			if r.Name != e.Name || len(r.Rows) == 0 || len(r.Plots) == 0 || last < 0.99 {
				t.Errorf("%d rows, %d plots, progress %g", len(r.Rows), len(r.Plots), last)
			}
			for _, row := range r.Rows {
				if !(row.Low >= 0 && row.Low <= row.Measured && row.Measured <= row.High &&
					row.High < math.MaxFloat64) {
					t.Errorf("%+v", row)
				}
			}
			for _, p := range r.Plots {
				if drawn[p.Name] {
					t.Errorf("a second plot of the name %s", p.Name)
				}
				drawn[p.Name] = true
				var svg bytes.Buffer
				if err := p.Draw(&svg, "svg"); err != nil {
					t.Fatal(err)
				}
				for d := xml.NewDecoder(&svg); ; {
					if _, err := d.Token(); err == io.EOF {
						break
					} else if err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
	for name, want := range map[string]string{
		"nosuch": `there is no experiment "nosuch"; bloomery-lab list shows all`,
		"phfig1": `there is no experiment "phfig1"; did you mean ph-fig1? bloomery-lab list shows all`,
	} {
		if _, err := ByName(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
