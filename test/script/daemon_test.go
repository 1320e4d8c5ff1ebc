package script_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/retake-dev/retake/internal/platform/proc"
)

// keep NAME PATH puts a value of the JSON of the last stdout into a variable.
func keepJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("use: keep NAME PATH")
	}
	var root any
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	dec.UseNumber()
	ts.Check(dec.Decode(&root))
	v, ok := dig(root, strings.Split(args[1], "."))
	if !ok {
		ts.Fatalf("there is no %s", args[1])
	}
	ts.Setenv(args[0], asText(ts, v))
}

const goneWait = 30 * time.Second

// gone PID waits until the process has ended; ! gone PID wants it alive.
func waitGone(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("use: gone PID")
	}
	pid, err := strconv.Atoi(args[0])
	ts.Check(err)
	if neg {
		if !proc.IsAlive(pid) {
			ts.Fatalf("process %d has ended", pid)
		}
		return
	}
	for end := time.Now().Add(goneWait); proc.IsAlive(pid); {
		if time.Now().After(end) {
			ts.Fatalf("process %d lives on", pid)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// leftBehind finds processes of the built program.
func leftBehind() []string {
	var left []string
	exes, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		return nil
	}
	for _, e := range exes {
		if to, err := os.Readlink(e); err == nil && slices.Contains([]string{program, program + "d"}, strings.TrimSuffix(to, " (deleted)")) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(e))); err == nil && proc.IsAlive(pid) {
				left = append(left, strconv.Itoa(pid))
			}
		}
	}
	return left
}
