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
	for k, v := range x.Xattrs {
		text, ok := strings.CutPrefix(k, rawKey)
		if !ok {
			continue
		}
		name, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return err
		}
		delete(x.Xattrs, k)
		x.Xattrs[string(name)] = v
	}
	return nil
}
