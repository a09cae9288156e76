package cli

import "testing"

// TestVersion checks what follows the version for the versions that Go gives main modules.
func TestVersion(t *testing.T) {
	for main, want := range map[string]string{
		"": "", "(devel)": "", "v1.0.0": "", "v1.0.0-rc.1": "",
		"v1.0.0+dirty":                                    "+dirty",
		"v0.0.0-20261129135930-1d69a9eba255":              "+1d69a9eba255",
		"v1.0.1-0.20261129135930-1d69a9eba255":            "+1d69a9eba255",
		"v1.0.0-rc.1.0.20261129135930-1d69a9eba255+dirty": "+1d69a9eba255.dirty",
	} {
		if got := suffixOf(main); got != want {
			t.Errorf("%s: %q, want %q", main, got, want)
		}
	}
	if Version() == "" {
		t.Error("no version")
	}
}
