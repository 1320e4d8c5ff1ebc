package retake

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Names and paths are bytes, and JSON holds only UTF-8. A field that does not fit
// is written readable, with a second field beside it, *_raw, that holds the bytes.

func rawOf(s string) []byte {
	if utf8.ValidString(s) {
		return nil
	}
	return []byte(s)
}

func restore(s *string, raw []byte) {
	if raw != nil {
		*s = string(raw)
	}
}

// MarshalJSON keeps a path that is not UTF-8.
func (g Gap) MarshalJSON() ([]byte, error) {
	type plain Gap
	return json.Marshal(struct {
		plain
		Raw []byte `json:"path_raw,omitempty"`
	}{plain(g), rawOf(g.Path)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (g *Gap) UnmarshalJSON(b []byte) error {
	type plain Gap
	v := struct {
		*plain
		Raw []byte `json:"path_raw"`
	}{plain: (*plain)(g)}
	err := json.Unmarshal(b, &v)
	restore(&g.Path, v.Raw)
	return err
}

// MarshalJSON keeps a name that is not UTF-8.
func (e Entry) MarshalJSON() ([]byte, error) {
	type plain Entry
	return json.Marshal(struct {
		plain
		Raw []byte `json:"name_raw,omitempty"`
	}{plain(e), rawOf(e.Name)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Entry) UnmarshalJSON(b []byte) error {
	type plain Entry
	v := struct {
		*plain
		Raw []byte `json:"name_raw"`
	}{plain: (*plain)(e)}
	err := json.Unmarshal(b, &v)
	restore(&e.Name, v.Raw)
	return err
}

// MarshalJSON keeps a path that is not UTF-8.
func (c Change) MarshalJSON() ([]byte, error) {
	type plain Change
	return json.Marshal(struct {
		plain
		Raw []byte `json:"path_raw,omitempty"`
	}{plain(c), rawOf(c.Path)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Change) UnmarshalJSON(b []byte) error {
	type plain Change
	v := struct {
		*plain
		Raw []byte `json:"path_raw"`
	}{plain: (*plain)(c)}
	err := json.Unmarshal(b, &v)
	restore(&c.Path, v.Raw)
	return err
}

// rawKey marks the name of an attribute that is not UTF-8, or that begins so.
const rawKey = "raw:"

// MarshalJSON keeps names of attributes that are not UTF-8.
func (x Extra) MarshalJSON() ([]byte, error) {
	type plain Extra
	p := plain(x)
	if x.Xattrs != nil {
		p.Xattrs = make(map[string][]byte, len(x.Xattrs))
		for k, v := range x.Xattrs {
			if !utf8.ValidString(k) || strings.HasPrefix(k, rawKey) {
				k = rawKey + base64.StdEncoding.EncodeToString([]byte(k))
			}
			if v == nil {
				v = []byte{}
			}
			p.Xattrs[k] = v
		}
	}
	return json.Marshal(p)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (x *Extra) UnmarshalJSON(b []byte) error {
	type plain Extra
	if err := json.Unmarshal(b, (*plain)(x)); err != nil {
		return err
	}
	if len(x.Xattrs) == 0 {
		return nil
	}
	attrs := make(map[string][]byte, len(x.Xattrs)) // a name of ours may look like one that is encoded
	for k, v := range x.Xattrs {
		text, ok := strings.CutPrefix(k, rawKey)
		if !ok {
			attrs[k] = v
			continue
		}
		name, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return err
		}
		attrs[string(name)] = v
	}
	x.Xattrs = attrs
	return nil
}

// roomRaw holds the bytes of what names a workspace.
type roomRaw struct {
	RootRaw []byte `json:"root_raw,omitempty"`
	NameRaw []byte `json:"name_raw,omitempty"`
}

func (r roomRaw) restore(w *Workspace) {
	restore(&w.Root, r.RootRaw)
	restore(&w.Name, r.NameRaw)
}

type plainWorkspace Workspace

// MarshalJSON keeps a root and a name that are not UTF-8.
func (w Workspace) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainWorkspace
		roomRaw
	}{plainWorkspace(w), roomRaw{rawOf(w.Root), rawOf(w.Name)}})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (w *Workspace) UnmarshalJSON(b []byte) error {
	v := struct {
		*plainWorkspace
		roomRaw
	}{plainWorkspace: (*plainWorkspace)(w)}
	err := json.Unmarshal(b, &v)
	v.restore(w)
	return err
}

// stateRest is a WorkspaceState without its Workspace.
type stateRest struct {
	Latest *Checkpoint `json:"latest,omitempty"`
	Count  int64       `json:"count"`
	Gone   bool        `json:"gone"`
}

// MarshalJSON keeps a root and a name that are not UTF-8.
func (s WorkspaceState) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainWorkspace
		roomRaw
		stateRest
	}{plainWorkspace(s.Workspace), roomRaw{rawOf(s.Root), rawOf(s.Name)}, stateRest{s.Latest, s.Count, s.Gone}})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *WorkspaceState) UnmarshalJSON(b []byte) error {
	rest := stateRest{s.Latest, s.Count, s.Gone}
	err := json.Unmarshal(b, &rest)
	s.Latest, s.Count, s.Gone = rest.Latest, rest.Count, rest.Gone
	if err != nil {
		return err
	}
	return json.Unmarshal(b, &s.Workspace)
}

// MarshalJSON keeps paths that are not UTF-8.
func (e Estimate) MarshalJSON() ([]byte, error) {
	type plain Estimate
	return json.Marshal(struct {
		plain
		RootRaw     []byte `json:"root_raw,omitempty"`
		HeaviestRaw []byte `json:"heaviest_raw,omitempty"`
	}{plain(e), rawOf(e.Root), rawOf(e.Heaviest)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Estimate) UnmarshalJSON(b []byte) error {
	type plain Estimate
	v := struct {
		*plain
		RootRaw     []byte `json:"root_raw"`
		HeaviestRaw []byte `json:"heaviest_raw"`
	}{plain: (*plain)(e)}
	err := json.Unmarshal(b, &v)
	restore(&e.Root, v.RootRaw)
	restore(&e.Heaviest, v.HeaviestRaw)
	return err
}
