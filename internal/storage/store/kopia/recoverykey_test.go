package kopia_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// A store whose keys are lost, with their copies, opens with its recovery key and with no other.
func TestARecoveryKeyOpensTheStore(t *testing.T) {
	t.Parallel()
	f, other := fillStore(t), fillStore(t)
	key, err := kopia.RecoveryKey(fsx.OS(), f.dir)
	must(t, err)
	wrong, err := kopia.RecoveryKey(fsx.OS(), other.dir)
	must(t, err)
	for _, name := range []string{"password", "keys", "blobs/kopia.repository.f", "blobs/kopia.blobcfg.f"} {
		must(t, os.RemoveAll(filepath.Join(f.dir, name)))
	}
	if _, _, err := f.count(t); err == nil {
		t.Fatal("it opens without its keys")
	}
	for i := range key {
		_, cut := kopia.RestoreKeys(fsx.OS(), f.dir, key[:i], "now")
		if i < len(key)-1 && !errors.Is(cut, kopia.ErrNoRecoveryKey) { // the last byte ends a line
			t.Fatalf("%d of %d bytes of a key: %v", i, len(key), cut)
		}
	}
	_, err = kopia.RestoreKeys(fsx.OS(), f.dir, wrong, "wrong")
	must(t, err)
	if whole, _, err := f.count(t); err == nil && whole > 0 {
		t.Error("it opens with the key of another store")
	}
	undo, err := kopia.RestoreKeys(fsx.OS(), f.dir, key, "now")
	must(t, err)
	if whole, _, err := f.count(t); err != nil || whole != filledWorkspaces*filledCheckpoints {
		t.Errorf("%d checkpoints, %v", whole, err)
	}
	must(t, undo())
	if whole, _, err := f.count(t); err == nil && whole > 0 {
		t.Error("the wrong key is not back")
	}
	if kept, err := os.ReadFile(filepath.Join(f.dir, "damaged", "password.now")); err != nil || len(kept) == 0 {
		t.Errorf("what was in the place of the password was not kept: %v", err)
	}
}

func TestThereIsNoRecoveryKeyWithoutAStore(t *testing.T) {
	t.Parallel()
	if _, err := kopia.RecoveryKey(fsx.OS(), t.TempDir()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it is %v", err)
	}
}

// A text is a recovery key only as it was printed, whatever stands before and after it.
func FuzzRestoreKeys(f *testing.F) {
	f.Add([]byte("-----BEGIN RETAKE RECOVERY KEY-----\nAAAA\n-----END RETAKE RECOVERY KEY-----\n"))
	f.Add([]byte("-----BEGIN RETAKE RECOVERY KEY-----\n-----END RETAKE RECOVERY KEY-----\n"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		_, err := kopia.RestoreKeys(fsx.OS(), dir, text, "now")
		left, rerr := os.ReadDir(dir)
		must(t, rerr)
		if err != nil && errors.Is(err, kopia.ErrNoRecoveryKey) && len(left) > 0 {
			t.Fatalf("a text that is no key wrote %v", left)
		}
		if err == nil && !bytes.Contains(text, []byte("RETAKE RECOVERY KEY")) {
			t.Fatalf("%q is a key", text)
		}
	})
}
