package carry

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// maxLooked is how many names are looked at for what does not work here.
const maxLooked = 200_000

// missing looks through files that arrived, by their first bytes and never running one, for what was made for
// another machine.
type missing struct {
	here    replica.StoreInfo
	looked  int
	foreign map[string][]string // by what was made elsewhere: paths
	venvs   []retake.NotArrived
}

// findMissing lists what arrived and does not work here.
func findMissing(fsys fsx.FS, root string, here replica.StoreInfo) []retake.NotArrived {
	m := &missing{here: here, foreign: map[string][]string{}}
	dir, err := fsys.OpenRoot(root)
	if err != nil {
		return []retake.NotArrived{}
	}
	m.walk(dir, "")
	_ = dir.Close() // only looked
	out := append([]retake.NotArrived{}, m.venvs...)
	for _, kind := range slices.Sorted(maps.Keys(m.foreign)) {
		paths := m.foreign[kind]
		n := retake.NotArrived{What: paths[0], Why: fmt.Sprintf("built for %s, this machine is %s-%s", kind, here.OS, here.Arch)}
		if len(paths) > 1 {
			n.What = fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
		}
		if strings.Contains(paths[0], "node_modules/") {
			n.Hint = "npm rebuild"
		}
		out = append(out, n)
	}
	return out
}

func (m *missing) walk(dir fsx.Dir, at string) {
	names, err := dir.Names()
	if err != nil {
		return
	}
	slices.Sort(names)
	for _, name := range names {
		if m.looked++; m.looked > maxLooked {
			return
		}
		i, err := dir.Lstat(name)
		full := path.Join(at, name)
		switch {
		case err != nil || name == ".git":
		case i.Type == fsx.Directory:
			if sub, err := dir.OpenDir(name); err == nil {
				m.walk(sub, full)
				_ = sub.Close() // only looked
			}
		case i.Type != fsx.Regular:
		case name == "pyvenv.cfg":
			m.lookAtVenv(readStart(dir, name, 4096), at)
		case i.Mode&0o111 != 0 || slices.Contains([]string{".so", ".node", ".dylib", ".dll", ".pyd"}, path.Ext(name)):
			if kind := builtFor(readStart(dir, name, 64)); kind != "" && !strings.HasPrefix(m.here.OS+"-"+m.here.Arch, kind) {
				m.foreign[kind] = append(m.foreign[kind], full)
			}
		}
	}
}

func readStart(dir fsx.Dir, name string, n int64) []byte {
	f, err := dir.OpenFile(name)
	if err != nil {
		return nil
	}
	defer f.Close()                          //nolint:errcheck // only read
	b, _ := io.ReadAll(io.LimitReader(f, n)) // as much as there is
	return b
}

// lookAtVenv finds a Python environment whose Python is not here.
func (m *missing) lookAtVenv(text []byte, at string) {
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(line, "=")
		home := strings.TrimSpace(value)
		if !ok || strings.TrimSpace(key) != "home" || !filepath.IsAbs(home) {
			continue
		}
		if _, err := os.Stat(home); err != nil {
			m.venvs = append(m.venvs, retake.NotArrived{What: path.Join(at, "pyvenv.cfg"), Why: "made with the Python in " + home + ", which is not here", Hint: "python3 -m venv --clear DIR, and install again"})
		}
	}
}

var machines = map[elf.Machine]string{
	elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386", elf.EM_ARM: "arm", elf.EM_RISCV: "riscv64", elf.EM_PPC64: "ppc64le", elf.EM_S390: "s390x",
}

// builtFor returns the system and the architecture that a program or library was built for, or "".
func builtFor(b []byte) string {
	switch {
	case len(b) >= 20 && string(b[:4]) == elf.ELFMAG:
		order := binary.ByteOrder(binary.LittleEndian)
		if b[5] == byte(elf.ELFDATA2MSB) {
			order = binary.BigEndian
		}
		return "linux-" + nameOr(machines[elf.Machine(order.Uint16(b[18:]))])
	case len(b) >= 8 && (binary.LittleEndian.Uint32(b) == 0xfeedfacf):
		arch := map[uint32]string{0x01000007: "amd64", 0x0100000c: "arm64"}[binary.LittleEndian.Uint32(b[4:])]
		return "darwin-" + nameOr(arch)
	case len(b) >= 2 && string(b[:2]) == "MZ":
		return "windows"
	}
	return ""
}

func nameOr(arch string) string {
	if arch == "" {
		return "another processor"
	}
	return arch
}
