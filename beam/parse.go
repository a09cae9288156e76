package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units of sizes: k, M and G are powers of 1000; Ki, Mi and Gi are powers of 1024.
var units = map[string]float64{"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}

// parseBytes reads a size above 0, such as 65536, 64KiB or 10MB.
func parseBytes(flag, text string) (int64, error) {
	plain := strings.TrimSuffix(strings.TrimSpace(text), "B")
	number := strings.TrimRight(plain, "kKMGi")
	v, err := strconv.ParseFloat(number, 64)
	unit, known := units[plain[len(number):]]
	if v *= unit; err != nil || !known || !(v >= 1 && v < 1<<60) || v != math.Trunc(v) {
		return 0, fmt.Errorf("--%s %q: want a size above 0, such as 512MiB or 2GB", flag, text)
	}
	return int64(v), nil
}

// bytesText formats a number of bytes.
func bytesText(n uint64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if float64(n) >= 0.9995*u.size {
			return fmt.Sprintf("%.3g %s", float64(n)/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
