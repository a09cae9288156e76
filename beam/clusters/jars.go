package clusters

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
)

// JarsVariable names the folder in which jars are kept. Default: a folder in os.UserCacheDir.
const JarsVariable = "BLOOMERY_CLUSTER_JARS"

// Releases of Java that the engines run on: Beam's job servers for Spark fail on later ones.
const oldestJava, newestJava = 11, 21

// Lacking returns a sentence that says what a cluster needs and this machine lacks, or "".
func Lacking() string {
	const needs = "a cluster needs Java 17 and Maven; "
	if runtime.GOOS == "windows" {
		return "a cluster needs a Unix system; use WSL"
	}
	for _, program := range []string{java(), "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			return needs + "there is no " + program + " in PATH"
		}
	}
	out, err := exec.Command(java(), "-version").CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%s%s -version: %v", needs, java(), err)
	}
	if release := javaRelease(string(out)); release < oldestJava || release > newestJava {
		return fmt.Sprintf("%s%s is Java %d; name another in JAVA_HOME", needs, java(), release)
	}
	return ""
}

// java returns the program: that of JAVA_HOME, which Maven takes, too, or the one in PATH.
func java() string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return filepath.Join(home, "bin", "java")
	}
	return "java"
}

var versionLine = regexp.MustCompile(`version "(?:1\.)?([0-9]+)`)

// javaRelease returns the release in what java -version prints, such as 17, or 0.
func javaRelease(text string) int {
	m := versionLine.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// cacheFolder returns the folder of jars.
func cacheFolder() (string, error) {
	if top := os.Getenv(JarsVariable); top != "" {
		return top, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w; name a folder for jars in %s", err, JarsVariable)
	}
	return filepath.Join(cache, "bloomery-clusters"), nil
}

// jars returns the folder of the jars of a Maven project, after loading them if they are not there.
func jars(ctx context.Context, pom []byte, folder string, note func(string)) (string, error) {
	top, err := cacheFolder()
	if err != nil {
		return "", err
	}
	kept := filepath.Join(top, folder)
	if _, err := os.Stat(kept); err == nil {
		return kept, nil
	}
	note("loading jars with Maven, once, into " + kept)
	if err := os.MkdirAll(top, 0o777); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(top, "loading-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	project := filepath.Join(tmp, "pom.xml")
	if err := os.WriteFile(project, pom, 0o666); err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", project, "dependency:copy-dependencies",
		"-DoutputDirectory=jars")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return kept, os.Rename(filepath.Join(tmp, "jars"), kept)
}
