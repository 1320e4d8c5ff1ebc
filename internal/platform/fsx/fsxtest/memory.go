// Package fsxtest holds the drivers of fsx that only tests need: a file system in memory that
// knows what a crash would lose, and wrappers around any other one that count operations, make
// them fail, or make one of them the last before a crash.
//
// It touches nothing outside the memory of this process, but for what a wrapped file system does.
package fsxtest

import (
	"io/fs"
	"math"
	"strings"
	"sync"
	"syscall"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Memory is a file system in memory that knows what was synced. A change is visible at once,
// and becomes durable only by a sync of the inode or directory it belongs to. Crash returns
// what a power cut would leave.
//
//	M1  File.Sync makes data and attributes of the file durable, not its name
//	    (but see FileSyncKeepsName).
//	M2  Dir.Sync makes the names of one directory durable, not what they name.
//	M3  A rename or exchange between two directories is two changes, one in each.
//	M4  Equal calls give equal results: inode numbers, times and lists too.
type Memory struct {
	mu                sync.Mutex
	clock             func() int64 // nil: the tick
	tick              int64
	root              *memNode
	nextIno           uint64
	nextDev           uint64
	seq               int64
	capacity          int64
	used              int64             // bytes of the files that have a name or a handle
	dirtyNodes        map[*memNode]bool // inodes with pending changes
	fileSyncKeepsName bool              // see FileSyncKeepsName
	refused           refusedOps        // see RefuseChown and RefuseExchange
}

const (
	memoryDev   = 1
	memoryEpoch = 1_767_225_600_000_000_000 // 2026-01-01
	memoryTick  = 1000
	maxName     = 255
)

// NewMemory returns an empty file system. Until SetClock is called its time starts at 2026 and
// advances by a microsecond whenever it is read.
func NewMemory() *Memory {
	m := &Memory{tick: memoryEpoch, capacity: math.MaxInt64, nextDev: memoryDev + 1, dirtyNodes: map[*memNode]bool{}}
	m.root = m.newNode(fsx.Directory, 0o755, memoryDev)
	m.root.nlink = 1
	return m
}

// SetClock makes m take its times, in nanoseconds, from clock.
func (m *Memory) SetClock(clock func() int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock = clock
}

func (m *Memory) currentTime() int64 {
	if m.clock != nil {
		return m.clock()
	}
	m.tick += memoryTick
	return m.tick
}

// SetCapacity limits the total size of all files.
func (m *Memory) SetCapacity(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.capacity = bytes
}

// FileSyncKeepsName makes File.Sync also sync the names that the file got or lost before it,
// as ext4, xfs and btrfs do. POSIX does not promise that, and it is off by default.
func (m *Memory) FileSyncKeepsName(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fileSyncKeepsName = on
}

// UnsyncedCount returns the number of changes that a crash could lose.
func (m *Memory) UnsyncedCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.pendingChanges())
}

// OpenRoot takes an absolute path with slashes. No element may be a link.
func (m *Memory) OpenRoot(path string) (fsx.Dir, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup(path)
	if err != nil {
		return nil, fsx.WrapError("open root", path, err)
	}
	if n.typ != fsx.Directory {
		return nil, fsx.WrapError("open root", path, syscall.ENOTDIR)
	}
	return m.openDirHandle(n), nil
}

// FreeSpace returns what is left of the capacity.
func (m *Memory) FreeSpace(path string) (free, total int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.lookup(path); err != nil {
		return 0, 0, fsx.WrapError("stat file system", path, err)
	}
	return max(m.capacity-m.used, 0), m.capacity, nil
}

// HasFineTimestamps returns false: a test may stop the clock.
func (m *Memory) HasFineTimestamps(string) bool { return false }

// lookup returns the inode at path. The lock must be held.
func (m *Memory) lookup(path string) (*memNode, error) {
	names, err := splitPath(path)
	if err != nil {
		return nil, err
	}
	n := m.root
	for _, name := range names {
		if n.typ != fsx.Directory {
			return nil, syscall.ENOTDIR
		}
		next := n.live.names[name]
		if next == nil {
			return nil, syscall.ENOENT
		}
		n = next
	}
	return n, nil
}

// splitPath splits an absolute path into names. Double and trailing slashes are ignored.
func splitPath(path string) ([]string, error) {
	if !strings.HasPrefix(path, "/") {
		return nil, fsx.ErrBadName
	}
	var names []string
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		if err := checkMemoryName(name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

func checkMemoryName(name string) error {
	if err := fsx.CheckName(name); err != nil {
		return err
	}
	if len(name) > maxName {
		return syscall.ENAMETOOLONG
	}
	return nil
}

// newNode returns an inode that has no name yet.
func (m *Memory) newNode(typ fsx.Type, mode fs.FileMode, dev uint64) *memNode {
	m.nextIno++
	now := m.currentTime()
	n := &memNode{ino: m.nextIno, dev: dev, typ: typ}
	n.live.nodeAttrs = nodeAttrs{mode: fsx.BitsFromFileMode(mode), mtime: now, ctime: now}
	switch typ {
	case fsx.Directory:
		n.live.names = map[string]*memNode{}
		n.durable.names = map[string]*memNode{}
	case fsx.Regular:
		n.live.content = &content{}
		n.durable.content = n.live.content
	default: // no more than attributes
	}
	n.durable.nodeAttrs = n.live.nodeAttrs
	return n
}
