// Package mavenjars downloads the jars of a Maven project once, for Java programs that tests start.
package mavenjars

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// Variable names the folder in which jars are kept. Default: bloomery-clusters in os.UserCacheDir.
const Variable = "BLOOMERY_CLUSTER_JARS"

// Java returns the path of java in JAVA_HOME, which Maven also uses, or else in PATH.
func Java() string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return filepath.Join(home, "bin", "java")
	}
	return "java"
}

// Lacking returns a sentence if this machine lacks Maven or Java of a release from oldest to newest, else "". who is
// the subject of the sentence, such as "a cluster". If newest is 0, it is not a limit.
func Lacking(who string, oldest, newest int) string {
	needs := who + " needs Java 17 and Maven; "
	for _, program := range []string{Java(), "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			return needs + "there is no " + program + " in PATH"
		}
	}
	out, err := exec.Command(Java(), "-version").CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%s%s -version: %v", needs, Java(), err)
	}
	if is := release(string(out)); is < oldest || newest > 0 && is > newest {
		return fmt.Sprintf("%s%s is Java %d; name another in JAVA_HOME", needs, Java(), is)
	}
	return ""
}

var versionLine = regexp.MustCompile(`version "(?:1\.)?([0-9]+)`)

// release returns the release in the output of java -version, such as 17, or 0.
func release(text string) int {
	m := versionLine.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// Top returns the folder in which jars are kept.
func Top() (string, error) {
	if top := os.Getenv(Variable); top != "" {
		return filepath.Abs(top)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w; name a folder for jars in %s", err, Variable)
	}
	return filepath.Join(cache, "bloomery-clusters"), nil
}

// Load returns the folder with the jars that the project file names, and all their dependencies. If the folder does not
// exist, Load first runs Maven, and reports this to note, which may be nil. name is the name of the folder, inside the
// folder of Variable. Different project files need different names, so name should contain the versions. Several
// processes may load the same name at once. After an error, no files remain.
func Load(ctx context.Context, name string, project []byte, note func(string)) (folder string, err error) {
	top, err := Top()
	if err != nil {
		return "", err
	}
	jars := filepath.Join(top, name)
	if _, err := os.Stat(jars); err == nil {
		return jars, nil
	}
	if note != nil {
		note("loading jars with Maven, once, into " + jars)
	}
	if err := os.MkdirAll(top, 0o777); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(top, "loading-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	file := filepath.Join(tmp, "pom.xml")
	if err := os.WriteFile(file, project, 0o666); err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", file, "dependency:copy-dependencies", "-DoutputDirectory=jars")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("loading the jars %s: %w: %s", name, err, bytes.TrimSpace(out))
	}
	if err := os.Rename(filepath.Join(tmp, "jars"), jars); err != nil {
		if _, other := os.Stat(jars); other == nil {
			return jars, nil // another process was faster
		}
		return "", err
	}
	return jars, nil
}
