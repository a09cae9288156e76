package interop_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/interop"
)

// TestChainsOfRedis grows chains of 40 rates in Redis and in this program, from the same keys in the same order, and
// compares the files. REDISBLOOM_MODULE names the module.
func TestChainsOfRedis(t *testing.T) {
	_, c := dial(t, redisPort(t))
	for i := 1; i <= 40; i++ {
		rate := strconv.FormatFloat(float64(i)/[]float64{100, 1000, 7000, 1e6}[i%4], 'g', -1, 64)
		key := "chain-" + rate
		must(c("BF.RESERVE", key, rate, 10))
		set := must(bloomery.New(bloomery.Config{Spec: "redisbloom(capacity=10,fpr=" + rate + ")"}))
		for n := range 3000 {
			k := fmt.Sprint(n)
			must(c("BF.ADD", key, k))
			check(t, set.AddString(k))
		}
		if dump(t, c, key) != string(write(t, set, interop.RedisBloom)) {
			t.Errorf("rate %s: the chain differs from that of Redis", rate)
		}
	}
}

// TestGoldenOfRedis compares testdata/redisbloom.bin with the output of Redis.
func TestGoldenOfRedis(t *testing.T) {
	_, c := dial(t, redisPort(t))
	must(c("BF.RESERVE", "golden", "0.01", 10))
	for _, k := range hundred() {
		must(c("BF.ADD", "golden", k))
	}
	if dump(t, c, "golden") != string(file(t, "redisbloom")) {
		t.Error("testdata/redisbloom.bin is not what Redis writes")
	}
}
