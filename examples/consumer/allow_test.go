package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// TestAllow makes filters exact for a list, at the build and later.
func TestAllow(t *testing.T) {
	var keys, list [][]byte
	for i := range 2000 {
		keys, list = append(keys, fmt.Appendf(nil, "key-%d", i)), append(list, fmt.Appendf(nil, "allowed-%d", i))
	}
	c := bloomery.Config{Spec: "standard(fpr=0.1)", Allow: slices.Values(list)}
	set := must(bloomery.Build(t.Context(), slices.Values(keys), c))(t)
	c.Allow = nil
	later := must(bloomery.Build(t.Context(), slices.Values(keys), c))(t)
	a := must(later.Allower(bloomery.JobConfig{}))(t)
	defer a.Close()
	if err := errors.Join(a.AllowMany(list), a.AddMembers(keys), a.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytesOf(t, set), bytesOf(t, later)) {
		t.Error("exceptions that were added later differ")
	}
	again := must(later.Allower(bloomery.JobConfig{Like: set}))(t)
	defer again.Close()
	if err := errors.Join(again.AllowMany(list), again.AddMembers(keys), again.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		if !later.Contains(keys[i]) || later.Contains(list[i]) {
			t.Fatalf("%s or %s", keys[i], list[i])
		}
	}
	if i := set.Info(); i.Allowed != 2000 || i.Exceptions == 0 || i.ExceptionBits == 0 || i.ExceptionBits >= i.Bits {
		t.Errorf("%d allowed, %d exceptions, %d bits", i.Allowed, i.Exceptions, i.ExceptionBits)
	}
	if err := set.AddString("new"); !errors.Is(err, filter.ErrExceptions) {
		t.Errorf("Add: %v", err)
	}
	c.Allow = slices.Values(keys[:3])
	_, err := bloomery.Build(t.Context(), slices.Values(keys), c)
	var both *filter.AllowedError
	if !errors.Is(err, filter.ErrAllowed) || !errors.As(err, &both) || len(both.Keys) != 3 {
		t.Errorf("members that are allowed: %v", err)
	}
}
