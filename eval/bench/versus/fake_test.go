package versus

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain runs the program as our side (serve), as a peer with a fault (fake FAULT), or else the tests.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "serve":
		if err := Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case len(os.Args) == 3 && os.Args[1] == "fake":
		fake(os.Args[2])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// self returns the command that starts this program again.
func self(t *testing.T, args ...string) Command {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append(Command{program}, args...)
}

var positives = regexp.MustCompile(`positives=\d+`)

// fake answers as our side does, except for its fault. If $FAKE_PID is set, fake writes its process id to that file.
func fake(fault string) {
	if path := os.Getenv("FAKE_PID"); path != "" {
		if err := os.WriteFile(path, fmt.Appendf(nil, "%d", os.Getpid()), 0o666); err != nil {
			panic(err)
		}
	}
	runtime.LockOSThread() // the clock of queries is the thread's
	s, asked := server{}, 0
	for lines := bufio.NewScanner(os.Stdin); lines.Scan() && lines.Text() != "quit"; {
		line := lines.Text()
		reply, err := s.answer(context.Background(), line)
		if err != nil {
			reply = "error " + err.Error()
		}
		word, _, _ := strings.Cut(line, " ")
		if word == "ask" {
			asked++
		}
		switch fault + " " + word {
		case "crashes build":
			fmt.Fprintln(os.Stderr, "thread panicked: no luck")
			os.Exit(3)
		case "leaves build":
			os.Exit(0)
		case "hangs build":
			time.Sleep(time.Hour)
		case "chats keys":
			reply = "loading the keys"
		case "floods keys":
			for {
				if _, err := fmt.Print(strings.Repeat("loading ", 100)); err != nil {
					os.Exit(1)
				}
			}
		case "silent build":
			reply = "ok ns=5"
		case "newer hello":
			reply = "ok protocol=2"
		case "refuses build":
			reply = strings.Replace(reply, "refused=0", "refused=7", 1)
		case "forgets ask", "refuses ask":
			var found int
			if i := strings.Index(reply, "positives="); i >= 0 && asked == 1 {
				if _, err := fmt.Sscanf(reply[i:], "positives=%d", &found); err != nil {
					panic(err)
				}
				reply = positives.ReplaceAllString(reply, fmt.Sprintf("positives=%d", found-7))
			}
		case "dreams ask":
			reply = positives.ReplaceAllString(reply, "positives=99999999")
		case "wavers ask":
			reply = positives.ReplaceAllString(reply, fmt.Sprintf("positives=%d", 2000-asked/100))
		case "frozen ask":
			reply = regexp.MustCompile(`ns=\d+`).ReplaceAllString(reply, "ns=0")
		}
		if fault != "batches" && word == "build" {
			reply = strings.Replace(reply, "batch=1", "batch=0", 1)
		}
		if _, err := fmt.Println(reply); err != nil {
			return
		}
	}
}
