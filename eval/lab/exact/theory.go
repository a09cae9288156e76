package exact

import "math"

// entropy returns log2 C(universe, members): the bits that tell any set of that many members from all others.
func entropy(universe, members float64) float64 {
	if members <= 0 || members >= universe {
		return 0
	}
	lg := func(x float64) float64 { v, _ := math.Lgamma(x + 1); return v }
	return (lg(universe) - lg(members) - lg(universe-members)) / math.Ln2
}

// twoLevels returns the fewest bits a member of two levels without overhead: retrieval with r bits a member, and one
// bit for each member and for each of the false positives, (universe-members)·2^-r. The best r is a real number with
// 2^-r = members/((universe-members)·ln 2), or 0 if that is above 1.
func twoLevels(universe, members float64) float64 {
	if members >= (universe-members)*math.Ln2 {
		return universe / members
	}
	return math.Log2((universe-members)/members) + 1 + math.Log2(math.E) + math.Log2(math.Ln2)
}

// bloomCascade returns the bits a member of a cascade of Bloom filters of ideal size, with the rates of Larisch et al.
// (CRLite, IEEE S&P 2017, section IV.C): sqrt(1/2)·members/others in level 1, 1/2 in the levels after it. Level 1 has
// the members, level 2 the others that level 1 has, too, and so on.
func bloomCascade(universe, members float64) float64 {
	others := universe - members
	rate := math.Sqrt(0.5) * members / others
	in, next := members, rate*others // keys of a level, and of the one after it
	total := 0.0
	for in > members*1e-9 {
		total += in * -math.Log2(rate) * math.Log2(math.E)
		in, next, rate = next, in*0.5, 0.5
	}
	return total / members
}
