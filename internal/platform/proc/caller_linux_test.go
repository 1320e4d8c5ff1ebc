package proc_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/platform/proc"
)

const callerArg = "who-called"

// A program that is run through shells finds who had them run.
func TestCallerIsBehindTheShells(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{exe + " " + callerArg, "true && " + exe + " " + callerArg + "; true", "sh -c 'sh -c \"" + exe + " " + callerArg + "; true\"; true'"} {
		out, err := exec.Command("sh", "-c", line).Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got, err := strconv.Atoi(strings.TrimSpace(string(out))); err != nil || got != os.Getpid() {
			t.Errorf("%s: the caller is %q, want %d", line, out, os.Getpid())
		}
	}
}

func init() {
	programs[callerArg] = func([]string) { _, _ = os.Stdout.WriteString(strconv.Itoa(proc.CallerPID()) + "\n") }
}
