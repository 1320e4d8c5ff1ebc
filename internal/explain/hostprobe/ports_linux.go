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
	maxSockets     = 20_000  // lines of a table
	maxOpenFiles   = 200_000 // open files of all processes
	maxProgramName = 60      // bytes of a name
)

// Ports returns one trait for each protocol and port that is listened on, whatever the
// address, with the names of the programs as far as they are visible. Direct marks those of
// programs that run in the workspace, are in it, or were started by one of its agents. UDP
// ports of the ephemeral range are left out: they come and go. It returns nil if the time
// is up.
func Ports(ctx context.Context, o Options) []retake.Trait {
	ctx, cancel := context.WithTimeout(ctx, o.limit())
	defer cancel()
	found := make(chan []retake.Trait, 1)
	go func() {
		l := portScanner{ctx: ctx, opts: o, procDir: filepath.Join(o.Root, "proc"), ports: map[uint64]string{}}
		l.readSocketTables()
		found <- l.portTraits(l.socketOwners())
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

// portScanner finds listening sockets and the processes that own them.
type portScanner struct {
	ctx     context.Context
	opts    Options
	procDir string
	ports   map[uint64]string // by the inode of the socket: "tcp 3000"
}

// Socket states in the kernel's tables.
const (
	tcpListenState = "0A"
	udpOpenState   = "07"
)

// readSocketTables reads the listening ports from the kernel's tables.
func (l portScanner) readSocketTables() {
	handedOut := l.firstEphemeralPort()
	for _, t := range []struct{ file, proto, state string }{
		{"tcp", "tcp", tcpListenState}, {"tcp6", "tcp", tcpListenState}, {"udp", "udp", udpOpenState}, {"udp6", "udp", udpOpenState},
	} {
		f, err := os.Open(filepath.Join(l.procDir, "net", t.file))
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		for n := 0; n < maxSockets && l.ctx.Err() == nil && lines.Scan(); n++ {
			port, inode, ok := parseSocketLine(lines.Text(), t.state)
			if ok && (t.proto == "tcp" || port < handedOut) {
				l.ports[inode] = fmt.Sprintf("%s %d", t.proto, port)
			}
		}
		_ = f.Close() // only read
	}
}

// firstEphemeralPort returns the lowest port that the kernel assigns by itself.
func (l portScanner) firstEphemeralPort() uint64 {
	const usual = 32768
	b, err := os.ReadFile(filepath.Join(l.procDir, "sys/net/ipv4/ip_local_port_range"))
	if f := strings.Fields(string(b)); err == nil && len(f) == 2 {
		if n, err := strconv.ParseUint(f[0], 10, 16); err == nil {
			return n
		}
	}
	return usual
}

// parseSocketLine parses one line of a table: number, local address, remote address, state
// … and as the tenth field the inode.
func parseSocketLine(line, state string) (port, inode uint64, ok bool) {
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

// socketOwner is a process that listens.
type socketOwner struct {
	program     string
	inWorkspace bool // it belongs to the workspace
}

// socketOwners returns the processes that own the sockets, by inode.
func (l portScanner) socketOwners() map[uint64][]socketOwner {
	held := map[uint64][]socketOwner{}
	if len(l.ports) == 0 {
		return held
	}
	left := maxOpenFiles
	for _, pid := range readDirNames(l.procDir) {
		if _, err := strconv.Atoi(pid); err != nil || l.ctx.Err() != nil || left <= 0 {
			continue
		}
		fds := filepath.Join(l.procDir, pid, "fd")
		var who *socketOwner
		for _, fd := range readDirNames(fds) {
			left--
			link, err := os.Readlink(filepath.Join(fds, fd))
			inode, ok := socketInode(link)
			if err != nil || !ok || l.ports[inode] == "" {
				continue
			}
			if who == nil {
				who = &socketOwner{l.processName(pid), l.belongsToWorkspace(pid)}
			}
			held[inode] = append(held[inode], *who)
		}
	}
	return held
}

// belongsToWorkspace reports whether a process belongs to the workspace. A process that may
// not be inspected does not.
func (l portScanner) belongsToWorkspace(pid string) bool {
	if l.opts.WorkspaceRoot == "" {
		return false
	}
	for _, link := range []string{"cwd", "exe"} {
		if at, err := os.Readlink(filepath.Join(l.procDir, pid, link)); err == nil && l.opts.isInWorkspace(at) {
			return true
		}
	}
	for range maxParents {
		n, err := strconv.Atoi(pid)
		if err != nil || n <= 1 {
			return false
		}
		if slices.Contains(l.opts.AgentPIDs, n) {
			return true
		}
		pid = l.parentPID(pid)
	}
	return false
}

// maxParents bounds the chain of parent processes.
const maxParents = 64

// parentPID returns the parent of a process, or "". The name of a process may contain
// spaces and brackets; after the last bracket come the state and the parent.
func (l portScanner) parentPID(pid string) string {
	b, err := os.ReadFile(filepath.Join(l.procDir, pid, "stat"))
	if err != nil {
		return ""
	}
	words := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(words) < 2 {
		return ""
	}
	return words[1]
}

// readDirNames lists a directory, or returns nil if that is not permitted.
func readDirNames(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close() //nolint:errcheck // only read
	all, _ := d.Readdirnames(maxOpenFiles)
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

// processName returns the name a process gives itself, which may be anything.
func (l portScanner) processName(pid string) string {
	f, err := os.Open(filepath.Join(l.procDir, pid, "comm"))
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // only read
	b, _ := io.ReadAll(io.LimitReader(f, maxProgramName))
	return strings.ToValidUTF8(strings.TrimSuffix(string(b), "\n"), "\uFFFD")
}

// portTraits returns one trait for each port.
func (l portScanner) portTraits(held map[uint64][]socketOwner) []retake.Trait {
	by, own := map[string][]string{}, map[string]bool{}
	for inode, port := range l.ports {
		by[port] = append(by[port], "")
		for _, h := range held[inode] {
			by[port], own[port] = append(by[port], h.program), own[port] || h.inWorkspace
		}
	}
	out := make([]retake.Trait, 0, len(by))
	for port, programs := range by {
		slices.Sort(programs)
		programs = slices.DeleteFunc(slices.Compact(programs), func(s string) bool { return s == "" })
		out = append(out, retake.Trait{Kind: retake.FactPort, Name: port, Value: strings.Join(programs, ", "), Direct: own[port]})
	}
	slices.SortFunc(out, func(a, b retake.Trait) int { return comparePorts(a.Name, b.Name) })
	return out
}

// comparePorts orders by protocol, then by number.
func comparePorts(a, b string) int {
	ap, an, _ := strings.Cut(a, " ")
	bp, bn, _ := strings.Cut(b, " ")
	return cmp.Or(cmp.Compare(ap, bp), cmp.Compare(len(an), len(bn)), cmp.Compare(an, bn))
}
