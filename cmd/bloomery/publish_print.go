package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bloomery/bloomery/publish"
)

func (a *app) printPublished(r publish.Report, o publish.Options) error {
	var signers, warnings []string
	for _, k := range o.Sign {
		signers = append(signers, k.Public().ID())
	}

	for _, w := range r.Warnings {
		warnings = append(warnings, w.Error())
	}

	rotated := ""
	if r.Rotated != nil {
		rotated = r.Rotated.ID()
	}

	var due *uint64
	if r.Due != publish.Never {
		due = &r.Due
	}

	p, deltas, lines := r.Release, []object{}, ""
	for i, older := range r.Older {
		d := object{{"from", older.Number}, {"published", older.Published}}
		text := "none: the whole filter is smaller"
		if older.Same {
			d, text = append(d, object{{"same", true}}...), "same content" // and needs no delta
		}
		if older.Delta > 0 {
			share := float64(older.Delta) / float64(p.Total) // of the whole
			d = append(d, object{{"bytes,omitempty", older.Delta}, {"share,omitempty", share}}...)
			if !older.Same {
				text = fmt.Sprintf("%d bytes, %.3g%% of the whole", older.Delta, 100*share)
			}
		}
		deltas = append(deltas, d)
		if i == 0 {
			lines = "deltas"
		}
		lines += fmt.Sprintf("\tfrom %d, %s: %s\n", older.Number, older.Published.Format(time.DateOnly), text)
	}
	if a.quiet && !a.json {
		return nil
	}
	return a.table(object{
		{"name", p.Name}, {"release", p.Number}, {"sha256", p.SHA256}, {"kind", p.Kind}, {"published", p.Published},
		{"expires", p.Expires}, {"keys", p.Keys}, {"total_bytes", p.Total},
		{"same", r.Same}, {"renewed", r.Renewed}, // already published; with a new expiry or other signatures
		{"signed_by,omitempty", signers}, {"rotated_from,omitempty", rotated}, // ids of keys
		{"state,omitempty", r.State},          // files that record the signed releases
		{"folder_behind,omitempty", r.Behind}, // their newest release, if the folder had an older one
		{"deltas", deltas},                    // from kept releases, newest first
		{"daily_bytes", r.Daily}, {"trimmed_bytes,omitempty", r.Trimmed}, {"fpr_planned,omitempty", p.FPRPlanned},
		{"fpr_posterior", p.FPRPosterior}, {"fpr_per_release", r.Slope},
		{"build_due_in_releases,omitempty", due},  // absent if none is due within 1,000 releases
		{"exact_build_due,omitempty", r.BuildDue}, // why an exact set should be rebuilt
		{"removed", r.Removed}, {"removed_bytes", r.RemovedBytes}, {"warnings,omitempty", warnings},
	}, func(w io.Writer) {
		what := ""
		switch {
		case r.Renewed:
			what = ", renewed"
		case r.Same:
			what = ", as before: nothing has changed"
		}
		fmt.Fprintf(w, "release\t%d of %s%s\n", p.Number, p.Name, what)
		if p.Kind == publish.Exact {
			fmt.Fprintf(w, "exact set\t%d members, %s\n", p.Keys, bytesText(p.Total))
		} else {
			fmt.Fprintf(w, "filter\t%d keys, %s\n", p.Keys, bytesText(p.Total))
		}
		fmt.Fprintf(w, "expires\t%s\n", p.Expires.Format(time.DateTime+" MST"))
		if rotated != "" {
			fmt.Fprintf(w, "rotated\tfrom key %s to %s: readers that pin only the old key refuse this release\n",
				rotated, strings.Join(signers, ", "))
		}
		io.WriteString(w, lines)
		if len(r.Older) > 0 {
			fmt.Fprintf(w, "next load\t%d bytes for a reader with release %d\n", r.Daily, r.Older[0].Number)
		}
		if p.Kind != publish.Exact {
			fmt.Fprintf(w, "drift\t%s\n", r.Drift)
		}
		if r.BuildDue != "" {
			fmt.Fprintf(w, "note\ta full build is due, by exact build: %s\n", r.BuildDue)
		}
		if r.Trimmed > 0 {
			fmt.Fprintf(w, "note\t--trim would publish %s, %.3g%% less\n", bytesText(r.Trimmed),
				100-100*float64(r.Trimmed)/float64(p.Total))
		}
		if r.Removed > 0 {
			fmt.Fprintf(w, "removed\t%d files of older releases, %s\n", r.Removed, bytesText(r.RemovedBytes))
		}
	})
}

func (a *app) printChecked(r publish.Checked, now time.Time) error {
	p := r.Release
	expired, note, signers := now.After(p.Expires), "", "nobody"
	if expired {
		note = ": it has expired; publish --renew"
	}
	if len(r.Signers) > 0 {
		signers = strings.Join(r.Signers, ", ")
	}
	return exitIf(expired, a.table(object{
		{"name", p.Name}, {"release", p.Number}, {"sha256", p.SHA256}, {"expires", p.Expires}, {"expired", expired},
		{"signed_by", append([]string{}, r.Signers...)}, {"objects", r.Objects}, {"bytes", r.Bytes},
		{"delta_count", r.Deltas},
	}, func(w io.Writer) {
		fmt.Fprintf(w, "release\t%d of %s\n", p.Number, p.Name)
		fmt.Fprintf(w, "expires\t%s%s\n", p.Expires.Format(time.DateTime+" MST"), note)
		fmt.Fprintf(w, "signed by\t%s\n", signers)
		fmt.Fprintf(w, "objects\t%d, %s, all right\n", r.Objects, bytesText(r.Bytes))
		fmt.Fprintf(w, "deltas\t%d, all give release %d\n", r.Deltas, p.Number)
	}))
}
