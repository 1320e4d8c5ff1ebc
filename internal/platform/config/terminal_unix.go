//go:build unix

package config

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

func isTTY(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// terminalHeight returns the number of lines of the terminal, or 0.
func terminalHeight() int {
	w, err := unix.IoctlGetWinsize(int(os.Stdout.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(w.Row)
}

// terminalWidth returns the width of the terminal, or COLUMNS, or 80.
func terminalWidth() int {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && w.Col > 0 {
			return int(w.Col)
		}
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n >= 40 {
		return n
	}
	return 80
}
