package filter

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/bloomery/bloomery/internal/sums"
)

var updateVectors = flag.Bool("update", false, "write testdata/hashes.json anew")

// vectors is testdata/hashes.json: hashes that readers in other languages must compute. Byte i of the key of n bytes is
// i·i + 7·i + n mod 251.
type vectors struct {
	Secret   string              `json:"secret"`    // secret of siphash-128, 16 bytes in hexadecimal
	KeyCheck string              `json:"key_check"` // check of that secret
	Lengths  []int               `json:"lengths"`
	Hashes   map[string][]string `json:"hashes"` // Hi and Lo in hexadecimal, by the hash function, one for each length
	Quarters []string            `json:"quarters"`
}

func newVectors(t *testing.T) (v vectors) {
	secret := Secret{15: 7}
	for i := range SecretSize - 1 {
		secret[i] = byte(17*i + 3)
	}
	keyed := NewKeyedHasher(secret)
	v.Secret, v.KeyCheck = hex.EncodeToString(secret[:]), fmt.Sprintf("%016x", keyed.KeyCheck())
	hashers := []Hasher{keyed}
	for _, seed := range []uint64{0, 1, 0xff, 1 << 31, 1 << 32, 0xfedcba9876543210, 1<<64 - 1} {
		hashers = append(hashers, NewHasher(seed))
	}
	for id := XXH64; id <= FNV1; id++ {
		h, err := ForeignHasher(id)
		if err != nil {
			t.Fatal(err)
		}
		hashers = append(hashers, h)
	}
	for n := range 301 {
		v.Lengths = append(v.Lengths, n)
	}
	v.Lengths = append(v.Lengths, 511, 512, 1023, 1024, 1025, 1087, 1088, 1089, 2048, 2049, 4097, 65536, 100_003)
	v.Hashes = map[string][]string{}
	for _, n := range v.Lengths {
		key := make([]byte, n)
		for i := range key {
			j := uint64(i) // int has 32 bits on some machines
			key[i] = byte((j*j + 7*j + uint64(n)) % 251)
		}
		for _, h := range hashers {
			sum := h.Sum(key)
			name := h.String()
			v.Hashes[name] = append(v.Hashes[name], fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo))
		}
		q := sums.Murmur3Quarters(key)
		v.Quarters = append(v.Quarters, fmt.Sprintf("%016x%016x%016x%016x", q[0], q[1], q[2], q[3]))
	}
	return v
}

// TestVectors checks testdata/hashes.json, with which readers in other languages test their hash functions.
func TestVectors(t *testing.T) {
	const path = "testdata/hashes.json"
	want, err := json.MarshalIndent(newVectors(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	want = regexp.MustCompile(`\[[^\]]*\]`).ReplaceAllFunc(want, func(list []byte) []byte { // one list per line
		return bytes.Join(bytes.Fields(list), nil)
	})
	if *updateVectors {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs from the hash functions: run go test ./filter -run Vectors -update", path)
	}
}
