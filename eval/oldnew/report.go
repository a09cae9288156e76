package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/bloomery/bloomery/internal/cli"
)

// report is the report of a run.
type report struct {
	Old     string   `json:"old"`
	New     string   `json:"new"`
	Keys    int      `json:"keys"` // queried in each file
	Kinds   int      `json:"kinds"`
	Answers int      `json:"answers"` // answers of one version that were compared with answers of the other one
	Refused int      `json:"refused"` // kinds that the older version refuses as newer
	Faults  int      `json:"faults"`
	Results []result `json:"results"`
}

// result is the report about a kind of files.
type result struct {
	Kind       string    `json:"kind"`
	OnlyNew    string    `json:"only_new,omitempty"` // why the older version cannot make such files
	OldToNew   direction `json:"old_to_new"`
	NewToOld   direction `json:"new_to_old"`
	EqualFiles int       `json:"equal_files"`           // files with the same bytes from both versions
	Dated      int       `json:"dated"`                 // files with times or random numbers
	OtherFiles []string  `json:"other_files,omitempty"` // files with other bytes
	Faults     []string  `json:"faults,omitempty"`
}

// direction is the report about the files of one version.
type direction struct {
	Commands int    `json:"commands"`
	Answers  int    `json:"answers"`
	Turns    int    `json:"turns,omitempty"`   // versions that made, changed, and changed again the files
	Refused  string `json:"refused,omitempty"` // error of the older version
	Differ   int    `json:"differ,omitempty"`
}

func (r *report) add(one result) {
	r.Kinds++
	r.Answers += one.OldToNew.Answers + one.NewToOld.Answers
	r.Faults += len(one.Faults)
	if one.NewToOld.Refused != "" {
		r.Refused++
	}
	r.Results = append(r.Results, one)
}

// print prints the report. The error is cli.ErrNo if there is a fault.
func (r *report) print(w io.Writer, asJSON bool) error {
	if asJSON {
		if err := cli.WriteJSON(w, r); err != nil {
			return err
		}
	} else {
		for _, one := range r.Results {
			one.print(w)
		}
		fmt.Fprintf(w, "old: %s\nnew: %s\n%d kinds, %d answers of both versions, %d kinds refused as newer, %d faults\n",
			r.Old, r.New, r.Kinds, r.Answers, r.Refused, r.Faults)
	}
	if r.Faults > 0 {
		return cli.ErrNo
	}
	return nil
}

func (r *result) print(w io.Writer) {
	bytes := fmt.Sprintf("%d equal files", r.EqualFiles)
	if r.OtherFiles != nil {
		bytes += ", other bytes: " + strings.Join(r.OtherFiles, " ")
	}
	fmt.Fprintf(w, "%s\n  %s\n", r.Kind, bytes)
	if r.OnlyNew != "" {
		fmt.Fprintf(w, "  only the newer version makes it: %s\n", r.OnlyNew)
	}
	for _, d := range []struct {
		name string
		direction
	}{{"old -> new", r.OldToNew}, {"new -> old", r.NewToOld}} {
		switch {
		case d.Refused != "":
			fmt.Fprintf(w, "  %s refused: %s\n", d.name, d.Refused)
		case d.Commands > 0:
			fmt.Fprintf(w, "  %s %d answers by %d commands, %d differ\n", d.name, d.Answers, d.Commands, d.Differ)
		}
	}
	for _, f := range r.Faults {
		fmt.Fprintf(w, "  FAULT %s\n", f)
	}
}
