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

// maxMemory is what a child may hold while it reads; the cage is wider, so that it can
// still say so.
const maxMemory = 600 * mega

// Cage is what a child confines itself to before it serves. A child reads many files, so
// its time is that of many; the parent watches the time of each.
var Cage = proc.Cage{Memory: 1 << 30, CPU: 60 * time.Second, Files: 16}

// maxTraits is what one file may tell. Lists of what real machines hold have a tenth of it.
const maxTraits = 20_000

// errHungry ends a child.
var errHungry = errors.New("took too much memory")

// Serve is the life of a child: it reads what it is sent until nothing comes. It opens
// nothing, and may end itself after an answer that says so.
func Serve(in io.Reader, out io.Writer) error {
	r := bufio.NewReaderSize(in, maxChunk)
	key, _, err := readFrame(r, maxChunk)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the key: %w", err)
	}
	for {
		name, _, err := readFrame(r, maxChunk)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the name of a reader: %w", err)
		}
		if err := serveOne(r, out, string(name), key); err != nil {
			return err
		}
	}
}

func serveOne(r io.Reader, out io.Writer, name string, key []byte) error {
	if name == rowsName {
		var head rowsHead
		b, _, err := readFrame(r, maxChunk)
		if err == nil {
			err = json.Unmarshal(b, &head)
		}
		if err != nil {
			return fmt.Errorf("read a question: %w", err)
		}
		return serveRows(r, out, head, key)
	}
	a := answer{}
	data, err := collect(r)
	var log []byte
	if err == nil {
		log, err = collect(r)
	}
	switch {
	case errors.Is(err, noBytes):
		a.Why = string(noBytes)
	case err != nil:
		return fmt.Errorf("read the bytes of a file: %w", err)
	default:
		a = watched(func() answer { return answer{Reading: read(name, input{data: data, log: log, key: key})} })
	}
	return a.send(out)
}

// collect puts the chunks of a file together.
func collect(r io.Reader) ([]byte, error) {
	var data []byte
	for {
		chunk, whole, err := readFrame(r, maxChunk)
		switch {
		case err != nil:
			return nil, err
		case !whole:
			return nil, noBytes
		case len(chunk) == 0:
			return data, nil
		case len(data)+len(chunk) > maxStatus:
			return nil, errFrame
		}
		data = append(data, chunk...)
	}
}

const watchEvery = 10 * time.Millisecond

// watched reads, and gives up when memory grows too far: a reading cannot be stopped, so
// the child has to end.
func watched(read func() answer) answer {
	done := make(chan answer, 1)
	go func() { done <- read() }()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case a := <-done:
			return a
		case <-tick.C:
			if held() > maxMemory {
				return answer{Reading: Reading{Why: string(tooHungry)}, Last: true}
			}
		}
	}
}

// held is the memory that the process has from the system and has not given back.
func held() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

// read runs one reader. Foreign bytes may break it; that is an answer too.
func read(name string, in input) (reading Reading) {
	r, ok := find(name)
	if !ok || r.read == nil {
		return Reading{Why: string(unknown)}
	}
	if int64(len(in.data)) > r.limit {
		return Reading{Why: string(tooLarge(int64(len(in.data))))}
	}
	defer func() {
		if recover() != nil {
			reading = Reading{Why: string(brokeOff)}
		}
	}()
	traits, err := r.read(in)
	if err != nil {
		return Reading{Why: reason(err, brokeOff).Error()}
	}
	if traits == nil {
		traits = []retake.Trait{}
	}
	if len(traits) > maxTraits {
		return Reading{Why: string(overfull)}
	}
	return Reading{Traits: traits}
}
