package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Numbers as people write and read them; the command takes the same.

// parseCount reads a number of keys, such as 100k or 20M, from 1000 to 1G.
func parseCount(text string) (int, error) {
	v, ok := parseWhole(text)
	if !ok || v < 1000 || v > 1e9 {
		return 0, fmt.Errorf("--keys %q: want whole numbers from 1000 to 1G, such as 100k or 1M,20M", text)
	}
	return int(v), nil
}

// parseWhole reads a whole number with a unit, powers of 1000, below 2^53.
func parseWhole(text string) (uint64, bool) {
	text = strings.TrimSpace(text)
	number := strings.TrimRight(text, "kKMG")
	unit, known := map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}[text[len(number):]]
	v, err := strconv.ParseFloat(number, 64)
	v *= unit
	return uint64(v), err == nil && known && v >= 0 && v < 1<<53 && v == math.Trunc(v)
}

// parseRate reads 0.01 or 1%.
func parseRate(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 1e-6 && v <= 0.2) {
		return 0, fmt.Errorf("--fpr %q: want a rate from 0.000001 to 0.2, such as 0.01 or 1%%", text)
	}
	return v, nil
}

// countText writes a number of keys, such as 20M. What has no short form is written out.
func countText(n int) string {
	for _, u := range []struct {
		size int
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= u.size && n%(u.size/100) == 0 {
			return strconv.FormatFloat(float64(n)/float64(u.size), 'f', -1, 64) + u.name
		}
	}
	return strconv.Itoa(n)
}

// rateText writes a rate that somebody asked for, such as 1%.
func rateText(rate float64) string { return strconv.FormatFloat(100*rate, 'g', 6, 64) + "%" }

// percent writes an observed rate with three digits.
func percent(rate float64) string {
	if rate == 0 {
		return "0"
	}
	v := 100 * rate
	return strconv.FormatFloat(v, 'f', max(0, 2-int(math.Floor(math.Log10(v)))), 64) + "%"
}

// digits formats a measurement with three significant digits, or all digits before the decimal point.
func digits(v float64) string {
	switch {
	case v == 0:
		return "0"
	case math.Abs(v) >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, 2-int(math.Floor(math.Log10(math.Abs(v))))), 64)
}

// bytesText writes a size, in units of 1000.
func bytesText(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if v >= u.size {
			return digits(v/u.size) + " " + u.name
		}
	}
	return digits(v) + " B"
}
