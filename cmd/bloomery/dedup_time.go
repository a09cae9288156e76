package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// mostAhead is how far the time of a row may be ahead of the machine. Time does not go back: after one wrong row, all
// later ones would count as of its time.
const mostAhead = 24 * time.Hour

// parseRowTime is rowTime for a row that is read now.
func parseRowTime(text []byte) (uint64, error) {
	t, err := rowTime(string(text), time.Now().Add(mostAhead))
	return uint64(t), err
}

// rowTime reads the time of a row, RFC 3339 or Unix seconds, in ns since 1970. It must not be after latest.
func rowTime(text string, latest time.Time) (int64, error) {
	t, err := parseTime(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("time %.80q: want RFC 3339, such as 2026-01-31T12:00:00Z, or Unix seconds", text)
	case t.After(latest):
		return 0, fmt.Errorf("time %.80q is more than a day ahead of this machine: "+
			"time does not go back, so correct it", text)
	}
	return t.UnixNano(), nil
}

// The first and the last time that an int64 of ns since 1970 can hold, in whole seconds.
const firstSecond, lastSecond = -1 << 63 / 1_000_000_000, (1<<63-1)/1_000_000_000 - 1

var errTime = errors.New("no time")

func parseTime(text string) (t time.Time, err error) {
	whole, fraction, dot := strings.Cut(text, ".")
	if seconds, err := strconv.ParseInt(whole, 10, 64); err == nil {
		t = time.Unix(seconds, 0)
		if dot {
			part, err := strconv.ParseFloat("0."+fraction, 64)
			if err != nil || fraction == "" || strings.Trim(fraction, "0123456789") != "" {
				return t, errTime
			}
			if whole[0] == '-' {
				part = -part
			}
			t = t.Add(time.Duration(math.Round(part * 1e9)))
		}
	} else if t, err = time.Parse(time.RFC3339, text); err != nil {
		return t, err
	}
	if s := t.Unix(); s < firstSecond || s > lastSecond {
		return t, errTime
	}
	return t, nil
}
