package filtertest

import "testing"

// TestThird checks that one of every three cases runs, that the same seed selects the same cases, and that some seed
// selects each case.
func TestThird(t *testing.T) {
	const cases = 30
	t.Setenv("CI_FULL", "")
	pick := func(seed string) (picked [cases]bool) {
		t.Setenv("BLOOMERY_TEST_SEED", seed)
		runs := Third(t, false)
		for i := range picked {
			picked[i] = runs()
		}
		return picked
	}
	var ever [cases]bool
	for _, seed := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"} {
		picked := pick(seed)
		if pick(seed) != picked {
			t.Errorf("seed %s picks other cases the second time", seed)
		}
		for i := 0; i < cases; i += 3 {
			n := 0
			for j, p := range picked[i : i+3] {
				if p {
					n++
					ever[i+j] = true
				}
			}
			if n != 1 {
				t.Errorf("seed %s: %d of the cases %d to %d run", seed, n, i, i+2)
			}
		}
	}
	for i, e := range ever {
		if !e {
			t.Errorf("no seed picks case %d", i)
		}
	}
	full := Third(t, true)
	t.Setenv("CI_FULL", "1")
	alsoFull := Third(t, false)
	for i := range cases {
		if !full() || !alsoFull() {
			t.Errorf("case %d is left out of all", i)
		}
	}
}
