package shardfile

import "strconv"

// Rate rounds a rate to four significant digits, so that manifests from different processors have the same bytes.
func Rate(r float64) float64 { return round(r, 4) }

// Chosen returns the false-positive rate that was chosen for a set, from those of its shards: their mean to three
// digits, or the rate itself if they are equal. It is 0 if a shard has none.
func Chosen(rates []float64) float64 {
	sum, equal := 0.0, true
	for _, r := range rates {
		if r == 0 {
			return 0
		}
		sum += r
		equal = equal && r == rates[0]
	}
	if len(rates) == 0 || equal {
		return append(rates, 0)[0]
	}
	return round(sum/float64(len(rates)), 3)
}

func round(r float64, digits int) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(r, 'g', digits, 64), 64)
	return v
}
