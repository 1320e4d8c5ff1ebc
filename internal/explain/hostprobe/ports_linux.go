package hostprobe

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
)

const (
	maxSockets = 20_000  // lines of a table
	maxLinks   = 200_000 // open files of all processes
	maxProgram = 60      // bytes of a name
)

// Ports tells who listens: one trait for each protocol and port, whatever the address,
// with the names of the programs that hold it, as far as we may see them. Direct are those
// of programs that work in the workspace, lie in it, or were started by one of its agents.
// Of UDP only ports below those that the kernel hands out count: the others come and go.
// nil means that the time was over.
func Ports(ctx context.Context, o Options) []retake.Trait {
	ctx, cancel := context.WithTimeout(ctx, o.limit())
	defer cancel()
	found := make(chan []retake.Trait, 1)
	go func() {
		l := listeners{ctx: ctx, o: o, proc: filepath.Join(o.Root, "proc"), ports: map[uint64]string{}}
		l.tables()
		found <- l.traits(l.programs())
	}()
	select {
	case traits := <-found:
		if ctx.Err() == nil {
			return traits
		}
	case <-ctx.Done():
	}
	return nil
}

type listeners struct {
	ctx   context.Context
	o     Options
	proc  string
	ports map[uint64]string // by the inode of the socket: "tcp 3000"
}

// What the kernel says of a socket that waits for anybody.
const (
	tcpListens = "0A"
	udpOpen    = "07"
)

func (l listeners) tables() {
	handedOut := l.firstHandedOut()
	for _, t := range []struct{ file, proto, state string }{
		{"tcp", "tcp", tcpListens}, {"tcp6", "tcp", tcpListens}, {"udp", "udp", udpOpen}, {"udp6", "udp", udpOpen},
	} {
		f, err := os.Open(filepath.Join(l.proc, "net", t.file))
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		for n := 0; n < maxSockets && l.ctx.Err() == nil && lines.Scan(); n++ {
			port, inode, ok := socket(lines.Text(), t.state)
			if ok && (t.proto == "tcp" || port < handedOut) {
				l.ports[inode] = fmt.Sprintf("%s %d", t.proto, port)
			}
		}
		_ = f.Close() // only read
	}
}

// firstHandedOut is the lowest port that a program gets that asks for none.
func (l listeners) firstHandedOut() uint64 {
	const usual = 32768
	b, err := os.ReadFile(filepath.Join(l.proc, "sys/net/ipv4/ip_local_port_range"))
	if f := strings.Fields(string(b)); err == nil && len(f) == 2 {
		if n, err := strconv.ParseUint(f[0], 10, 16); err == nil {
			return n
		}
	}
	return usual
}

// socket reads one line: number, local address, remote address, state … and as the
// tenth word the inode.
func socket(line, state string) (port, inode uint64, ok bool) {
	f := strings.Fields(line)
	if len(f) < 10 || f[3] != state {
		return 0, 0, false
	}
	_, hex, ok := strings.Cut(f[1], ":")
	port, err := strconv.ParseUint(hex, 16, 16)
	if !ok || err != nil || port == 0 {
		return 0, 0, false
	}
	inode, err = strconv.ParseUint(f[9], 10, 64)
	return port, inode, err == nil && inode != 0
}

// holder is a process that listens.
type holder struct {
	program string
	own     bool // it belongs to the workspace
}

// programs are who holds the sockets, by inode.
func (l listeners) programs() map[uint64][]holder {
	held := map[uint64][]holder{}
	if len(l.ports) == 0 {
		return held
	}
	left := maxLinks
	for _, pid := range names(l.proc) {
		if _, err := strconv.Atoi(pid); err != nil || l.ctx.Err() != nil || left <= 0 {
			continue
		}
		fds := filepath.Join(l.proc, pid, "fd")
		var who *holder
		for _, fd := range names(fds) {
			left--
			link, err := os.Readlink(filepath.Join(fds, fd))
			inode, ok := socketInode(link)
			if err != nil || !ok || l.ports[inode] == "" {
				continue
			}
			if who == nil {
				who = &holder{l.comm(pid), l.own(pid)}
			}
			held[inode] = append(held[inode], *who)
		}
	}
	return held
}

// own reports whether a process belongs to the workspace. What we may not see does not.
func (l listeners) own(pid string) bool {
	if l.o.Skip == "" {
		return false
	}
	for _, link := range []string{"cwd", "exe"} {
		if at, err := os.Readlink(filepath.Join(l.proc, pid, link)); err == nil && l.o.inside(at) {
			return true
		}
	}
	for range maxParents {
		n, err := strconv.Atoi(pid)
		if err != nil || n <= 1 {
			return false
		}
		if slices.Contains(l.o.Own, n) {
			return true
		}
		pid = l.parent(pid)
	}
	return false
}

// maxParents bounds the way from a process to the one that began it all.
const maxParents = 64

// parent is the process that started another one. Its name may hold anything, also spaces
// and brackets; what follows the last bracket is the state, and then the parent.
func (l listeners) parent(pid string) string {
	b, err := os.ReadFile(filepath.Join(l.proc, pid, "stat"))
	if err != nil {
		return ""
	}
	words := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(words) < 2 {
		return ""
	}
	return words[1]
}

// names lists a directory; what we may not list is empty.
func names(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close() //nolint:errcheck // only read
	all, _ := d.Readdirnames(maxLinks)
	return all
}

func socketInode(link string) (uint64, bool) {
	text, ok := strings.CutPrefix(link, "socket:[")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(text, "]"), 10, 64)
	return n, err == nil
}

// comm is the name of a process as it gives it to itself; it may hold anything.
func (l listeners) comm(pid string) string {
	f, err := os.Open(filepath.Join(l.proc, pid, "comm"))
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // only read
	b, _ := io.ReadAll(io.LimitReader(f, maxProgram))
	return strings.ToValidUTF8(strings.TrimSuffix(string(b), "\n"), "\uFFFD")
}

// traits makes one of each port.
func (l listeners) traits(held map[uint64][]holder) []retake.Trait {
	by, own := map[string][]string{}, map[string]bool{}
	for inode, port := range l.ports {
		by[port] = append(by[port], "")
		for _, h := range held[inode] {
			by[port], own[port] = append(by[port], h.program), own[port] || h.own
		}
	}
	out := make([]retake.Trait, 0, len(by))
	for port, programs := range by {
		slices.Sort(programs)
		programs = slices.DeleteFunc(slices.Compact(programs), func(s string) bool { return s == "" })
		out = append(out, retake.Trait{Kind: retake.FactPort, Name: port, Value: strings.Join(programs, ", "), Direct: own[port]})
	}
	slices.SortFunc(out, func(a, b retake.Trait) int { return byPort(a.Name, b.Name) })
	return out
}

// byPort sorts by protocol, then by number.
func byPort(a, b string) int {
	ap, an, _ := strings.Cut(a, " ")
	bp, bn, _ := strings.Cut(b, " ")
	return cmp.Or(cmp.Compare(ap, bp), cmp.Compare(len(an), len(bn)), cmp.Compare(an, bn))
}
