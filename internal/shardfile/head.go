// Package shardfile has the names of the files of a sharded set, and the parts of its manifest that package shard and
// the writers of sets share: the fields before the list of shards with the id that follows from them, and rounded
// rates. It is below package shard and does not know its types.
package shardfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/bloomery/bloomery/filter"
)

// Values of fields of every manifest.
const (
	Format  = "bloomery-shards"
	Version = 1 // that this program writes and reads
	Routing = 1 // the routing function; a number is never reused for another one
)

// Head is a manifest in JSON without its list of shards. Numbers with 64 significant bits are text, because JavaScript
// reads numbers as float64.
type Head struct {
	Format    string  `json:"format"`
	Version   int     `json:"version"`
	Plan      string  `json:"plan"`
	Spec      string  `json:"spec"`
	Hash      string  `json:"hash"`
	Seed      string  `json:"seed"`
	KeyCheck  string  `json:"key_check,omitempty"`
	Routing   int     `json:"routing"`
	FPRChosen float64 `json:"fpr_chosen,omitempty"`
	Count     int     `json:"count"`
}

// NewHead returns the Head of a manifest with these fields of shard.Manifest and so many shards. Plan is its ID.
func NewHead(spec filter.Spec, hash filter.HashID, seed, keyCheck uint64, chosen float64, shards int) Head {
	h := Head{
		Format: Format, Version: Version, Spec: spec.String(), Hash: hash.String(),
		Seed: strconv.FormatUint(seed, 10), Routing: Routing, FPRChosen: chosen, Count: shards,
	}
	if keyCheck != 0 {
		h.KeyCheck = strconv.FormatUint(keyCheck, 16)
	}
	h.Plan = h.id()
	return h
}

// id returns 32 hex digits that depend on all fields except Plan.
func (h Head) id() string {
	h.Plan = ""
	b, err := json.Marshal(h)
	if err != nil {
		panic(err) // no field can fail
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
