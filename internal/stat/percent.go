package stat

import "fmt"

// Percent returns a rate for people: in percent with three digits, and below 0.0001% as a number such as 2.3e-10, since
// 2.3e-08% would be read as 2.3e-08. All texts have rates in this form; JSON has them as numbers.
func Percent(rate float64) string {
	if rate > 0 && rate < 1e-6 {
		return fmt.Sprintf("%.3g", rate)
	}
	return fmt.Sprintf("%.3g%%", 100*rate)
}
