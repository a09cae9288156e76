package admission

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// The methods in this file keep the secret of a Doorkeeper out of logs. They have value receivers, so they also cover a
// Doorkeeper that is printed by value.

// sizes is what a Doorkeeper shows of itself.
type sizes struct {
	Shards uint64 `json:"shards"`
	Bytes  uint64 `json:"bytes"` // as Bytes returns
	Keys   uint64 `json:"keys"`  // of a generation, in all shards; Config.Keys rounded up to a multiple of Shards
}

func (d Doorkeeper) sizes() sizes {
	if len(d.shards) == 0 {
		return sizes{} // the zero Doorkeeper
	}
	return sizes{Shards: d.geometry.shards, Bytes: d.Bytes(), Keys: d.geometry.shards * d.geometry.keys}
}

// String returns the sizes, such as "admission.Doorkeeper(shards=62, bytes=2892672, keys=1000060)".
func (d Doorkeeper) String() string {
	s := d.sizes()
	return fmt.Sprintf("admission.Doorkeeper(shards=%d, bytes=%d, keys=%d)", s.Shards, s.Bytes, s.Keys)
}

// Format writes String for every verb and flag, %#v included.
func (d Doorkeeper) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, d.String()) }

// LogValue returns a group of the sizes: shards, bytes and keys.
func (d Doorkeeper) LogValue() slog.Value {
	s := d.sizes()
	return slog.GroupValue(slog.Uint64("shards", s.Shards), slog.Uint64("bytes", s.Bytes), slog.Uint64("keys", s.Keys))
}

// MarshalJSON returns an object of the sizes: shards, bytes and keys. A Doorkeeper cannot be restored from it.
func (d Doorkeeper) MarshalJSON() ([]byte, error) { return json.Marshal(d.sizes()) }
