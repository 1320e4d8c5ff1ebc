//go:build linux

package cage

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() {
	harness.Children["naive"] = naiveReader
	harness.Children["starter"] = starterReader
	harness.Children["spinner"] = spinner
}

// spinFor bounds what the control leaves behind if nobody ends it.
const spinFor = 20 * time.Second

// naiveReader reads what it is sent without any bound: it writes out what references
// stand for.
func naiveReader([]string) int {
	return answering(func(data []byte) { writeOut(string(data)) })
}

// starterReader starts a program that goes on computing after the answer.
func starterReader([]string) int {
	started := false
	return answering(func([]byte) {
		if self, err := os.Executable(); err == nil && !started {
			started = exec.Command(self, "child", "spinner").Start() == nil
		}
	})
}

func spinner([]string) int {
	for end := time.Now().Add(spinFor); time.Now().Before(end); {
		continue
	}
	return 0
}

// answering speaks as a reader does: a key, then for each file a name, chunks and an
// empty frame. It finds nothing in any of them.
func answering(read func(data []byte)) int {
	in := bufio.NewReader(os.Stdin)
	if _, err := frame(in); err != nil {
		return 1
	}
	for {
		if _, err := frame(in); err != nil {
			return 0
		}
		var data []byte
		for {
			chunk, err := frame(in)
			if err != nil {
				return 1
			}
			if len(chunk) == 0 {
				break
			}
			data = append(data, chunk...)
		}
		read(data)
		answer := []byte(`{"traits":[]}`)
		if _, err := os.Stdout.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(answer))), answer...)); err != nil {
			return 1
		}
	}
}

func frame(in io.Reader) ([]byte, error) {
	var n uint32
	if err := binary.Read(in, binary.BigEndian, &n); err != nil || n == ^uint32(0) {
		return nil, err
	}
	b := make([]byte, n)
	_, err := io.ReadFull(in, b)
	return b, err
}

var reference = regexp.MustCompile(`\*\w+`)

// writeOut replaces each reference by what it stands for, as often as it comes.
func writeOut(text string) int {
	known := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(line, ": &")
		if !ok {
			continue
		}
		_, value, _ = strings.Cut(strings.TrimSpace(value), " ")
		known["*"+name] = reference.ReplaceAllStringFunc(value, func(r string) string { return known[r] })
	}
	return len(known)
}
