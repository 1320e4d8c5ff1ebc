package probe

import (
	"bufio"
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
// with the names of the programs that hold it, as far as we may see them. Of UDP only
// ports below those that the kernel hands out count: the others come and go. nil means
// that the time was over.
func Ports(ctx context.Context, o Options) []retake.Trait {
	ctx, cancel := context.WithTimeout(ctx, o.limit())
	defer cancel()
	found := make(chan []retake.Trait, 1)
	go func() {
		l := listeners{ctx: ctx, proc: filepath.Join(o.Root, "proc"), ports: map[uint64]string{}}
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

// programs names who holds the sockets, by inode.
func (l listeners) programs() map[uint64][]string {
	held := map[uint64][]string{}
	if len(l.ports) == 0 {
		return held
	}
	left := maxLinks
	for _, pid := range names(l.proc) {
		if _, err := strconv.Atoi(pid); err != nil || l.ctx.Err() != nil || left <= 0 {
			continue
		}
		fds := filepath.Join(l.proc, pid, "fd")
		name := ""
		for _, fd := range names(fds) {
			left--
			link, err := os.Readlink(filepath.Join(fds, fd))
			inode, ok := socketInode(link)
			if err != nil || !ok || l.ports[inode] == "" {
				continue
			}
			if name == "" {
				name = l.comm(pid)
			}
			held[inode] = append(held[inode], name)
		}
	}
	return held
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
func (l listeners) traits(held map[uint64][]string) []retake.Trait {
	by := map[string][]string{}
	for inode, port := range l.ports {
		by[port] = append(by[port], held[inode]...)
	}
	out := make([]retake.Trait, 0, len(by))
	for port, programs := range by {
		slices.Sort(programs)
		programs = slices.DeleteFunc(slices.Compact(programs), func(s string) bool { return s == "" })
		out = append(out, retake.Trait{Kind: retake.FactPort, Name: port, Value: strings.Join(programs, ", ")})
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
