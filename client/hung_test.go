package client_test

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

// A daemon that takes connections and answers nothing is given up soon.
func TestAHungDaemonIsGivenUp(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // nobody answers
	c := client.New(client.Options{Socket: socket})
	began := time.Now()
	if _, err := c.Workspaces(t.Context()); !retake.IsKind(err, retake.Away) {
		t.Errorf("the answer of nobody: %v", err)
	}
	if took := time.Since(began); took > 20*time.Second { // 2.5 s where nothing else runs
		t.Errorf("it took %v", took)
	}
}
