package daemon

import (
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
)

// maxLog is how long the log grows before it is put aside; one old one stays.
const maxLog = 1 << 20

// logFile appends, and puts itself aside when it is long. Panics end up in it
// too: a daemon has nobody who reads what it prints.
type logFile struct {
	path string
	mu   sync.Mutex
	f    *os.File // guarded by mu
	size int64    // guarded by mu
}

func openLog(path string) (*logFile, error) {
	l := &logFile{path: path}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l, l.open()
}

// open opens the file to append. The caller holds mu.
func (l *logFile) open() error {
	if i, err := os.Stat(l.path); err == nil && i.Size() >= maxLog {
		if err := os.Rename(l.path, l.path+".old"); err != nil {
			return fmt.Errorf("put log aside: %w", err)
		}
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	if i, err := f.Stat(); err == nil {
		l.size = i.Size()
	}
	if err := debug.SetCrashOutput(f, debug.CrashOptions{}); err != nil {
		_ = f.Close() // nothing was written
		return fmt.Errorf("open log: %w", err)
	}
	if l.f != nil {
		_ = l.f.Close() // every line was written at once
	}
	l.f = f
	return nil
}

func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size >= maxLog {
		if err := l.open(); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(p)
	l.size += int64(n)
	return n, err
}

// followPath goes on in the file that is at the path of the log now. It makes no directory:
// where there is none, the old file is written to its end.
func (l *logFile) followPath() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.open() // the old file stays open
}

func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.f.Close()
}

func (l *logFile) logger(debug bool) *slog.Logger {
	level := slog.LevelInfo
	if debug {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: level}))
}
