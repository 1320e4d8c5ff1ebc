//go:build unix

package install_test

import (
	"os"
	"syscall"
	"testing"
)

func owner(t *testing.T, file string) (uid, gid uint32) {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	return st.Uid, st.Gid
}
