//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// The one line of the program that reads the clock, and what stands for it here: the same
// clock, off by what the first eight bytes of a mapped file say. A map is read without a
// call of the system, which children in a cage may not make.
const (
	clockFile = "internal/platform/clock/clock.go"
	wallLine  = "func (wall) Now() time.Time { return time.Now() }"
	setLine   = `func (wall) Now() time.Time { return time.Now().Add(time.Duration(atomic.LoadInt64(hands))) }

var hands = func() *int64 {
	f, err := os.Open(%q)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	b, err := syscall.Mmap(int(f.Fd()), 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return (*int64)(unsafe.Pointer(&b[0]))
}()
`
)

// hands are those of the clock that the program sees.
type hands struct{ off *int64 }

// newHands makes the file that holds how far the clock is off.
func newHands(file string) (hands, error) {
	if err := os.WriteFile(file, make([]byte, 8), 0o600); err != nil {
		return hands{}, fmt.Errorf("make clock: %w", err)
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return hands{}, fmt.Errorf("make clock: %w", err)
	}
	defer f.Close() //nolint:errcheck // the map stays
	b, err := syscall.Mmap(int(f.Fd()), 0, 8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return hands{}, fmt.Errorf("map clock: %w", err)
	}
	return hands{(*int64)(unsafe.Pointer(&b[0]))}, nil
}

func (h hands) set(t time.Time) { atomic.StoreInt64(h.off, int64(time.Until(t))) }

func (h hands) now() time.Time { return time.Now().Add(time.Duration(atomic.LoadInt64(h.off))) }

// build makes the program, all of it as it is but for the clock.
func build(ctx context.Context, dir, clock string) (string, error) {
	b, err := os.ReadFile(clockFile)
	if err != nil {
		return "", fmt.Errorf("read clock: %w", err)
	}
	text := string(b)
	if !strings.Contains(text, wallLine) || !strings.Contains(text, "import (\n") {
		return "", fmt.Errorf("set clock: %s reads it in another way", clockFile)
	}
	text = strings.Replace(text, "import (\n", "import (\n\t\"os\"\n\t\"sync/atomic\"\n\t\"syscall\"\n\t\"unsafe\"\n", 1)
	text = strings.Replace(text, wallLine, fmt.Sprintf(setLine, clock), 1)
	from, err := filepath.Abs(clockFile)
	if err != nil {
		return "", fmt.Errorf("find clock: %w", err)
	}
	to, over, exe := filepath.Join(dir, "clock.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "bin", "retake")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{from: to}})
	if err == nil {
		err = os.WriteFile(over, overlay, 0o600)
	}
	if err == nil {
		err = os.WriteFile(to, []byte(text), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("write overlay: %w", err)
	}
	c := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-overlay", over, "-o", filepath.Dir(exe)+"/", "./cmd/retake", "./cmd/retaked")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build retake: %w: %s", err, out)
	}
	return exe, nil
}
