package kopia

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

// jsonEntry is an entry as it is stored.
type jsonEntry struct {
	Name   string    `json:"name"`
	Type   string    `json:"type"`
	Mode   string    `json:"mode"`
	Size   int64     `json:"size"`
	Mtime  time.Time `json:"mtime,omitzero"`
	UID    uint32    `json:"uid"`
	GID    uint32    `json:"gid"`
	Object string    `json:"obj"`
	Sum    *struct {
		Bytes    int64     `json:"size"`
		Files    int64     `json:"files"`
		Symlinks int64     `json:"symlinks"`
		Dirs     int64     `json:"dirs"`
		MaxTime  time.Time `json:"maxTime"`
	} `json:"summ"`
	Ext *entryExtension `json:"retake"`
}

// decodeDir decodes a directory stream and sorts it by the bytes of the names.
func decodeDir(b []byte) ([]retake.Entry, error) {
	if out, ok := decodeDirFast(b); ok {
		return out, nil
	}
	return decodeDirJSON(b)
}

// decodeDirJSON accepts everything that encoding/json accepts.
func decodeDirJSON(b []byte) ([]retake.Entry, error) {
	var dir struct {
		Stream  string      `json:"stream"`
		Entries []jsonEntry `json:"entries"`
	}
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&dir); err != nil {
		return nil, fmt.Errorf("decode directory: %w", err)
	}
	if dir.Stream != "kopia:directory" {
		return nil, fmt.Errorf("decode directory: stream is %.40q", dir.Stream)
	}
	out := make([]retake.Entry, len(dir.Entries))
	for i := range dir.Entries {
		if err := dir.Entries[i].toEntry(&out[i]); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out, compareNames)
	return out, nil
}

func compareNames(a, b retake.Entry) int { return strings.Compare(a.Name, b.Name) }

var storedKinds = map[string]retake.Kind{"f": retake.KindFile, "d": retake.KindDir, "s": retake.KindSymlink}

// toEntry converts a stored entry and refuses unknown types.
func (s *jsonEntry) toEntry(e *retake.Entry) error {
	kind, ok := storedKinds[s.Type]
	if !ok {
		return fmt.Errorf("decode %q: type %.20q", s.Name, s.Type)
	}
	*e = retake.Entry{Name: s.Name, Kind: kind, UID: s.UID, GID: s.GID, Size: s.Size, Object: retake.ObjectID(s.Object)}
	if s.Mode != "" {
		m, err := strconv.ParseUint(s.Mode, 0, 32)
		if err != nil {
			return fmt.Errorf("decode mode of %q: %w", s.Name, err)
		}
		e.Mode = fromStockMode(m)
	}
	if !s.Mtime.IsZero() {
		e.ModTime = s.Mtime.UnixNano()
	}
	if s.Sum != nil {
		e.Sum = retake.Summary{Files: s.Sum.Files, Dirs: s.Sum.Dirs, Symlinks: s.Sum.Symlinks, Bytes: s.Sum.Bytes, MaxTime: s.Sum.MaxTime.UnixNano()}
	}
	if s.Ext != nil {
		s.Ext.applyTo(e)
	}
	return nil
}

func (x *entryExtension) applyTo(e *retake.Entry) {
	if x.Raw != nil {
		e.Name = string(x.Raw)
	}
	if x.Kind == retake.KindFIFO || x.Kind == retake.KindSocket {
		e.Kind = x.Kind
	}
	e.Extra = x.Extra
}
