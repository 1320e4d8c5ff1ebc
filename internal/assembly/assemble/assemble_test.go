package assemble_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/service/servicetest"
)

func TestSolo(t *testing.T) {
	t.Parallel()
	servicetest.Run(t, servicetest.Harness{Open: openSolo, Reading: soloReading, Copy: copyDir})
}

func openSolo(t *testing.T, home string) retake.Service {
	t.Helper()
	return soloAs(t, home, "")
}

// soloReading has a child that reads: this program.
func soloReading(t *testing.T, home string) retake.Service {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	return soloAs(t, home, self)
}

func soloAs(t *testing.T, home, self string) retake.Service {
	t.Helper()
	c := config.Config{DataDir: filepath.Join(home, "data"), Home: "/nobody", BootID: "this run", Executable: self}
	set, err := config.Load(filepath.Join(home, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := assemble.OpenService(t.Context(), c, set, assemble.Options{Derivation: derivation})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp -a: %v: %s", err, out)
	}
}
