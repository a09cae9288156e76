package main

import (
	"errors"
	"fmt"
	"text/tabwriter"
)

// fileReport is one file in the report of info about several. It has a report or an error.
type fileReport struct {
	File string `json:"file"`
	*report
	Error string `json:"error,omitempty"`
}

// infoTable describes several files, one a line. A file that cannot be read does not hide the others: its error comes
// at the end.
func (a *app) infoTable(paths []string) error {
	files := make([]fileReport, len(paths))
	var failed []error
	for i, path := range paths {
		files[i].File = path
		r, err := a.describe(path)
		if err != nil {
			files[i].Error = err.Error()
			failed = append(failed, err)
			continue
		}
		files[i].report = &r
		a.warnRate(path, r.info)
	}
	return errors.Join(append([]error{a.printInfos(files)}, failed...)...)
}

// describe returns the report of a file.
func (a *app) describe(path string) (report, error) {
	set, err := a.open(path)
	if err != nil {
		return report{}, err
	}
	defer set.Close()
	r := reportOf(set, set.Stored())
	return r, set.Err()
}

func (a *app) printInfos(files []fileReport) error {
	if a.json {
		return a.printJSON(files)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FILE\tFAMILY\tKEYS\tSIZE\tBITS/KEY\tLOAD\tFALSE POSITIVES")
	for _, f := range files {
		if f.report == nil {
			fmt.Fprintf(w, "%s\terror\t-\t-\t-\t-\t-\n", f.File)
			continue
		}
		load := "-"
		if f.Capacity > 0 {
			load = fmt.Sprintf("%.1f%%", 100*f.Load)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%.5g\t%s\t%.3g\n",
			f.File, f.Family, f.Keys, bytesText(f.FileBytes), f.BitsPerKey, load, f.FPRPosterior)
	}
	return w.Flush()
}
