package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Numbers in the form that people read and that the flags accept.

// parseCount parses a number of keys from 1000 to 1G, such as 100k or 20M.
func parseCount(text string) (int, error) {
	v, ok := parseWhole(text)
	if !ok || v < 1000 || v > 1e9 {
		return 0, fmt.Errorf("--keys %q: want whole numbers from 1000 to 1G, such as 100k or 1M,20M", text)
	}
	return int(v), nil
}

// parseWhole parses a whole number below 2^53 with an optional unit k, M or G, powers of 1000.
func parseWhole(text string) (uint64, bool) {
	text = strings.TrimSpace(text)
	number := strings.TrimRight(text, "kKMG")
	unit, known := map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}[text[len(number):]]
	v, err := strconv.ParseFloat(number, 64)
	v *= unit
	return uint64(v), err == nil && known && v >= 0 && v < 1<<53 && v == math.Trunc(v)
}

// parseRate parses a rate from 1e-6 to 0.2, such as 0.01 or 1%.
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

// countText formats a number of keys, such as 20M, or with all digits if more than two decimals would be needed.
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

// rateText formats a target rate, such as 1%.
func rateText(rate float64) string { return strconv.FormatFloat(100*rate, 'g', 6, 64) + "%" }

// percent formats an observed rate with three significant digits.
func percent(rate float64) string {
	if rate == 0 {
		return "0"
	}
	return digits(100*rate) + "%"
}

// digits formats a measurement with three significant digits, or all digits before the decimal point.
func digits(v float64) string {
	if v == 0 {
		return "0"
	}
	return strconv.FormatFloat(v, 'f', max(0, 2-int(math.Floor(math.Log10(math.Abs(v))))), 64)
}

// bytesText formats a size in bytes, with powers of 1000 as units.
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
