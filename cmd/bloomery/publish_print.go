package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bloomery/bloomery/publish"
)

// published is the report of publish.
type published struct {
	Name         string           `json:"name"`
	Release      uint64           `json:"release"`
	SHA256       publish.Hash     `json:"sha256"`
	Kind         string           `json:"kind"`
	Published    time.Time        `json:"published"`
	Expires      time.Time        `json:"expires"`
	Keys         uint64           `json:"keys"`
	TotalBytes   uint64           `json:"total_bytes"`
	Same         bool             `json:"same"`    // the filter was published already
	Renewed      bool             `json:"renewed"` // and has a new expiry or other signatures
	SignedBy     []string         `json:"signed_by,omitempty"`
	RotatedFrom  string           `json:"rotated_from,omitempty"`  // id of the key that signed the release before
	State        []string         `json:"state,omitempty"`         // files that remember what was signed
	Behind       uint64           `json:"folder_behind,omitempty"` // release that they had, if the folder had less
	Deltas       []publishedDelta `json:"deltas"`                  // from kept releases, the newest first
	DailyBytes   uint64           `json:"daily_bytes"`
	TrimmedBytes uint64           `json:"trimmed_bytes,omitempty"`
	FPRChosen    float64          `json:"fpr_chosen,omitempty"`
	FPRPosterior float64          `json:"fpr_posterior"`
	RateSlope    float64          `json:"fpr_per_release"`
	BuildDue     *uint64          `json:"build_due_in_releases,omitempty"` // absent if it is not in sight
	ExactDue     string           `json:"exact_build_due,omitempty"`       // why an exact set should be built anew
	Removed      int              `json:"removed"`
	RemovedBytes uint64           `json:"removed_bytes"`
	Warnings     []string         `json:"warnings,omitempty"`
}

// publishedDelta is a delta in the report of publish.
type publishedDelta struct {
	From      uint64    `json:"from"`
	Published time.Time `json:"published"`
	Same      bool      `json:"same,omitempty"`  // this release had the same content, and needs no delta
	Bytes     uint64    `json:"bytes,omitempty"` // absent if none is smaller than the whole
	Share     float64   `json:"share,omitempty"` // of the whole
}

// printPublished prints the report of publish.
func (a *app) printPublished(r publish.Report, o publish.Options) error {
	p := published{
		Name: r.Release.Name, Release: r.Release.Number, SHA256: r.Release.SHA256, Kind: r.Release.Kind,
		Published: r.Release.Published, Expires: r.Release.Expires, Keys: r.Release.Keys, TotalBytes: r.Release.Total,
		Same: r.Same, Renewed: r.Renewed, Deltas: []publishedDelta{}, DailyBytes: r.Daily, TrimmedBytes: r.Trimmed,
		FPRChosen: r.Release.FPRChosen, FPRPosterior: r.Release.FPRPosterior, RateSlope: r.Drift.Slope,
		ExactDue: r.BuildDue, Removed: r.Removed, RemovedBytes: r.RemovedBytes, State: r.State, Behind: r.Behind,
	}
	for _, k := range o.Sign {
		p.SignedBy = append(p.SignedBy, k.Public().ID())
	}
	if r.Rotated != nil {
		p.RotatedFrom = r.Rotated.ID()
	}
	if r.Drift.Due != publish.Never {
		p.BuildDue = &r.Drift.Due
	}
	for _, s := range r.History {
		d := publishedDelta{From: s.Number, Published: s.Published, Same: s.SHA256 == r.Release.SHA256}
		if s.Delta != nil {
			d.Bytes, d.Share = s.Delta.Bytes, float64(s.Delta.Bytes)/float64(p.TotalBytes)
		}
		p.Deltas = append(p.Deltas, d)
	}
	for _, w := range r.Warnings {
		p.Warnings = append(p.Warnings, w.Error())
	}
	if a.quiet && !a.json {
		return nil
	}
	return a.table(p, func(w io.Writer) { p.write(w, r.Drift) })
}

// write prints the report as text.
func (p published) write(w io.Writer, drift publish.Drift) {
	what := ""
	switch {
	case p.Renewed:
		what = ", renewed"
	case p.Same:
		what = ", as before: nothing has changed"
	}
	fmt.Fprintf(w, "release\t%d of %s%s\n", p.Release, p.Name, what)
	if p.Kind == publish.Exact {
		fmt.Fprintf(w, "exact set\t%d members, %s\n", p.Keys, bytesText(p.TotalBytes))
	} else {
		fmt.Fprintf(w, "filter\t%d keys, %s\n", p.Keys, bytesText(p.TotalBytes))
	}
	fmt.Fprintf(w, "expires\t%s\n", p.Expires.Format(time.DateTime+" MST"))
	if p.RotatedFrom != "" {
		fmt.Fprintf(w, "rotated\tfrom key %s to %s: readers that pin only the old key refuse this release\n",
			p.RotatedFrom, strings.Join(p.SignedBy, ", "))
	}
	for i, d := range p.Deltas {
		head := ""
		if i == 0 {
			head = "deltas"
		}
		text := "none: the whole filter is smaller"
		switch {
		case d.Same:
			text = "same content"
		case d.Bytes > 0:
			text = fmt.Sprintf("%d bytes, %.3g%% of the whole", d.Bytes, 100*d.Share)
		}
		fmt.Fprintf(w, "%s\tfrom %d, %s: %s\n", head, d.From, d.Published.Format(time.DateOnly), text)
	}
	if len(p.Deltas) > 0 {
		fmt.Fprintf(w, "next load\t%d bytes for a reader with release %d\n", p.DailyBytes, p.Deltas[0].From)
	}
	if p.Kind != publish.Exact {
		fmt.Fprintf(w, "drift\t%s\n", drift)
	}
	if p.ExactDue != "" {
		fmt.Fprintf(w, "note\ta full build is due, by exact build: %s\n", p.ExactDue)
	}
	if p.TrimmedBytes > 0 {
		fmt.Fprintf(w, "note\t--trim would publish %s, %.3g%% less\n", bytesText(p.TrimmedBytes),
			100-100*float64(p.TrimmedBytes)/float64(p.TotalBytes))
	}
	if p.Removed > 0 {
		fmt.Fprintf(w, "removed\t%d files of older releases, %s\n", p.Removed, bytesText(p.RemovedBytes))
	}
}

// checkedFolder is the report of publish --check.
type checkedFolder struct {
	Name    string       `json:"name"`
	Release uint64       `json:"release"`
	SHA256  publish.Hash `json:"sha256"`
	Expires time.Time    `json:"expires"`
	Expired bool         `json:"expired"`
	Signers []string     `json:"signers"`
	Objects int          `json:"objects"`
	Bytes   uint64       `json:"bytes"`
	Deltas  int          `json:"deltas"`
}

// printChecked prints the report of publish --check.
func (a *app) printChecked(r publish.Checked, now time.Time) error {
	c := checkedFolder{
		Name: r.Release.Name, Release: r.Release.Number, SHA256: r.Release.SHA256, Expires: r.Release.Expires,
		Expired: now.After(r.Release.Expires), Signers: append([]string{}, r.Signers...), Objects: r.Objects,
		Bytes: r.Bytes, Deltas: r.Deltas,
	}
	signers := "nobody"
	if len(c.Signers) > 0 {
		signers = strings.Join(c.Signers, ", ")
	}
	expired := ""
	if c.Expired {
		expired = ": it has expired; publish --renew"
	}
	return exitIf(c.Expired, a.table(c, func(w io.Writer) {
		fmt.Fprintf(w, "release\t%d of %s\n", c.Release, c.Name)
		fmt.Fprintf(w, "expires\t%s%s\n", c.Expires.Format(time.DateTime+" MST"), expired)
		fmt.Fprintf(w, "signed by\t%s\n", signers)
		fmt.Fprintf(w, "objects\t%d, %s, all right\n", c.Objects, bytesText(c.Bytes))
		fmt.Fprintf(w, "deltas\t%d, all give release %d\n", c.Deltas, c.Release)
	}))
}
