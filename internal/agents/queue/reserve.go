package queue

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// A full disk must not lose the signals of agents: they say which turns were not saved. The queue
// keeps files in reserve, and removes one when there is no room for a signal. Each takes an inode
// too, since a disk can run out of those first.
const (
	reserveFiles  = 32
	reserveBytes  = 16 << 10
	reserveSuffix = "-reserve" // of the directory beside the queue
)

func reservePath(dir string, i int) string {
	return filepath.Join(dir+reserveSuffix, fmt.Sprintf("%02d", i))
}

// FillReserve makes the files of the reserve that are missing. On a full disk it makes none.
func FillReserve(dir string) error {
	if _, err := os.Stat(reservePath(dir, reserveFiles-1)); err == nil {
		return nil // they are made in order, and taken from the end
	}
	if err := os.MkdirAll(dir+reserveSuffix, 0o700); err != nil {
		return fmt.Errorf("fill the reserve: %w", err)
	}
	for i := range reserveFiles {
		f, err := os.OpenFile(reservePath(dir, i), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("fill the reserve: %w", err)
		}
		room := make([]byte, reserveBytes)
		_, _ = rand.Read(room) // a disk that compresses would keep no room for zeros; it never fails
		_, err = f.Write(room)
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(f.Name()) // half of one is none
			return fmt.Errorf("fill the reserve: %w", err)
		}
	}
	return nil
}

// takeReserve frees room for a signal, and reports whether there was any.
func takeReserve(dir string) bool {
	for i := reserveFiles - 1; i >= 0; i-- {
		if os.Remove(reservePath(dir, i)) == nil {
			return true
		}
	}
	return false
}

// withReserve runs a write and, if the disk is full, again with room from the reserve.
func withReserve(dir string, write func() error) error {
	err := write()
	for isFull(err) && takeReserve(dir) {
		err = write()
	}
	return err
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
