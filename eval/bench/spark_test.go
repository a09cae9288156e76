package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/interop"
)

// sparkDoor compiles the Java program and returns a function that runs the program with keys on standard input.
func sparkDoor(t *testing.T) func(keys [][]byte, args ...string) []byte {
	jars, dir := os.Getenv("SPARK_SKETCH"), t.TempDir()
	if jars == "" {
		t.Skip("NOT RUN: SPARK_SKETCH names no class path with spark-sketch_2.13 4.1 and scala-library")
	}
	out, err := exec.Command("javac", "-cp", jars, "-d", dir, "testdata/SparkDoor.java").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return func(keys [][]byte, args ...string) []byte {
		path := dir + string(os.PathListSeparator) + jars
		cmd := exec.Command("java", append([]string{"-cp", path, "SparkDoor"}, args...)...)
		cmd.Stdin, cmd.Stderr = bytes.NewReader(append(bytes.Join(keys, []byte("\n")), '\n')), os.Stderr
		if len(keys) == 0 {
			cmd.Stdin = nil
		}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// TestSpark compares with Spark itself, in both versions and both directions, for binary keys and for longs.
func TestSpark(t *testing.T) {
	door, dir := sparkDoor(t), t.TempDir()
	present, absent := interopSets()
	all := append(append([][]byte(nil), present...), absent...)
	agreeAll := func(what string, set *bloomery.Set, path string) {
		answers := door(all, "ask", path)
		if len(answers) != len(all)+100_000 {
			t.Fatalf("%d answers to %d keys", len(answers), len(all))
		}
		by := map[string]bool{}
		for i, k := range all {
			by[string(k)] = answers[i] == '1'
		}
		agree(t, what, set, func(k []byte) bool { return by[string(k)] })
		longs, differ := bloomery.Keyed[uint64](set), 0
		for i, a := range answers[len(all):] {
			if longs.Contains(uint64(i)) != (a == '1') {
				differ++
			}
		}
		if differ > 0 {
			t.Errorf("%s: %d of 100000 longs have other answers", what, differ)
		}
	}
	for _, version := range []string{"1", "2"} {
		path := filepath.Join(dir, "theirs"+version)
		door(present, "write", "V"+version, fmt.Sprint(len(present)), "0.02", path)
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		agreeAll("we read Spark, version "+version, read(t, interop.Spark, file), path)

		set := ourSet(t, "spark(fpr=0.01,version="+version+")", 0)
		ours := foreign(t, interop.Spark, set)
		path = filepath.Join(dir, "ours"+version)
		if err := os.WriteFile(path, ours, 0o600); err != nil {
			t.Fatal(err)
		}
		agreeAll("Spark reads us, version "+version, set, path)
		door(nil, "rewrite", path, path+"-again")
		if again, err := os.ReadFile(path + "-again"); err != nil || !bytes.Equal(again, ours) {
			t.Errorf("Spark writes other bytes: %v", err)
		}

		path = filepath.Join(dir, "longs"+version)
		door(nil, "write", "V"+version, "100000", "0.02", path)
		if file, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		longs := bloomery.Keyed[uint64](read(t, interop.Spark, file))
		for i := uint64(0); i < 100_000; i += 2 {
			if !longs.Contains(i) {
				t.Fatalf("version %s: the long %d is missing", version, i)
			}
		}
	}
}
