package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strconv"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// shardsMain is the command "shardset DIR SHARDS SPEC SEED KEYS" of scripts: it writes a sharded set with the library.
func shardsMain() {
	if err := writeShards(os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]); err != nil {
		log.Fatal(err)
	}
}

func writeShards(dir, number, text, seed, path string) error {
	shards, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	c := bloomery.Config{Spec: text}
	if c.Seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	builders := make([]*bloomery.Builder, shards)
	for i := range builders {
		if builders[i], err = bloomery.NewBuilder(c); err != nil {
			return err
		}
	}
	hasher := builders[0].Hasher()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		h := hasher.Sum(lines.Bytes())
		if err := builders[shard.Route(h, shards)].AddHash(h); err != nil {
			return err
		}
	}
	m := &shard.Manifest{Hash: hasher.ID(), Seed: hasher.Seed()}
	if m.Spec, err = filter.ParseSpec(text); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for i, b := range builders {
		set, err := b.Build(context.Background())
		if err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
		e := shard.Entry{File: shard.Name(i, shards, "")}
		name := filepath.Join(dir, e.File)
		if err := set.Save(context.Background(), name); err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		info := set.Info()
		e.Keys, e.Bytes, e.SHA256 = info.Keys, uint64(len(data)), sha256.Sum256(data)
		e.FPRPrior, e.FPRPosterior = shard.Rate(info.FPRPrior), shard.Rate(info.FPRPosterior)
		m.Shards = append(m.Shards, e)
	}
	m.FPRChosen = filter.ReadSizing(m.Spec.Reader()).FPR
	return container.WriteAtomic(context.Background(), filepath.Join(dir, shard.ManifestName), func(w io.Writer) error {
		_, err := m.WriteTo(w)
		return err
	})
}
