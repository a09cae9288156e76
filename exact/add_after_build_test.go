package exact

import (
	"errors"
	"testing"
)

// TestAddAfterBuild checks that a Builder that was built or closed refuses keys, since no set will contain them.
func TestAddAfterBuild(t *testing.T) {
	for how, end := range map[string]func(b *Builder) error{
		"Build": func(b *Builder) error { _, err := b.Build(t.Context()); return err },
		"Close": func(b *Builder) error { return b.Close() },
	} {
		b := must(NewBuilder(Config{}))
		key := [][]byte{[]byte("a")}
		check(t, errors.Join(b.AddUniverse(key), b.AddMembers(key), end(b)))
		if b.AddMembers(key) == nil || b.AddUniverse(key) == nil {
			t.Errorf("a Builder takes keys after %s", how)
		}
		if _, err := b.Build(t.Context()); err == nil {
			t.Errorf("Build after %s", how)
		}
	}
}
