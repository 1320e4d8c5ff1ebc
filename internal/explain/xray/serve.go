package xray

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/metrics"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// maxMemory is how much memory a child may use while it reads. The cage allows more, so
// that the child can still report it.
const maxMemory = 600 * mega

// Cage is what a child confines itself to before it serves. A child reads many files, so
// the CPU limit is for all of them; the parent limits the time of each.
var Cage = proc.Sandbox{MaxMemory: 1 << 30, MaxCPU: 60 * time.Second, MaxOpenFiles: 16}

// maxTraits is the most traits one file may have. Package lists of real machines have a
// tenth of it.
const maxTraits = 20_000

// errOutOfMemory ends a child.
var errOutOfMemory = errors.New("took too much memory")

// Serve is the main loop of a child: it reads what it is sent until its input ends. It
// opens nothing, and may end itself after an answer that says so.
func Serve(in io.Reader, out io.Writer) error {
	r := bufio.NewReaderSize(in, maxChunkSize)
	key, _, err := readFrame(r, maxChunkSize)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the key: %w", err)
	}
	for {
		name, _, err := readFrame(r, maxChunkSize)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the name of a reader: %w", err)
		}
		if err := serveRequest(r, out, string(name), key); err != nil {
			return err
		}
	}
}

// serveRequest reads one request, runs the reader and writes the answer.
func serveRequest(r io.Reader, out io.Writer, name string, key []byte) error {
	if name == rowsRequestName {
		var head rowsHeader
		b, _, err := readFrame(r, maxChunkSize)
		if err == nil {
			err = json.Unmarshal(b, &head)
		}
		if err != nil {
			return fmt.Errorf("read a question: %w", err)
		}
		return serveRows(r, out, head, key)
	}
	a := childAnswer{}
	data, err := readChunks(r)
	var log []byte
	if err == nil {
		log, err = readChunks(r)
	}
	switch {
	case errors.Is(err, reasonNoBytes):
		a.Why = string(reasonNoBytes)
	case err != nil:
		return fmt.Errorf("read the bytes of a file: %w", err)
	default:
		a = withMemoryWatch(func() childAnswer {
			return childAnswer{Reading: runReader(name, input{data: data, log: log, key: key})}
		})
	}
	return a.send(out)
}

// readChunks joins the chunks of a file.
func readChunks(r io.Reader) ([]byte, error) {
	var data []byte
	for {
		chunk, whole, err := readFrame(r, maxChunkSize)
		switch {
		case err != nil:
			return nil, err
		case !whole:
			return nil, reasonNoBytes
		case len(chunk) == 0:
			return data, nil
		case len(data)+len(chunk) > maxStatus:
			return nil, errFrameTooLong
		}
		data = append(data, chunk...)
	}
}

const memoryCheckInterval = 10 * time.Millisecond

// withMemoryWatch runs read and gives up if memory grows too far. A reader cannot be
// stopped, so the child has to end then.
func withMemoryWatch(read func() childAnswer) childAnswer {
	done := make(chan childAnswer, 1)
	go func() { done <- read() }()
	tick := time.NewTicker(memoryCheckInterval)
	defer tick.Stop()
	for {
		select {
		case a := <-done:
			return a
		case <-tick.C:
			if heldMemory() > maxMemory {
				return childAnswer{Reading: Reading{Why: string(reasonOutOfMemory)}, Last: true}
			}
		}
	}
}

// heldMemory returns the memory that the process obtained from the system and has not
// returned.
func heldMemory() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

// runReader runs one reader. Untrusted bytes may cause a panic, which becomes a reason in
// the reading.
func runReader(name string, in input) (reading Reading) {
	r, ok := findReader(name)
	if !ok || r.read == nil {
		return Reading{Why: string(reasonUnknownReader)}
	}
	if int64(len(in.data)) > r.limit {
		return Reading{Why: string(reasonTooLarge(int64(len(in.data))))}
	}
	defer func() {
		if recover() != nil {
			reading = Reading{Why: string(reasonCrashed)}
		}
	}()
	traits, err := r.read(in)
	if err != nil {
		return Reading{Why: asReason(err, reasonCrashed).Error()}
	}
	if traits == nil {
		traits = []retake.Trait{}
	}
	if len(traits) > maxTraits {
		return Reading{Why: string(reasonTooManyEntries)}
	}
	return Reading{Traits: traits}
}
