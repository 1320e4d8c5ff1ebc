package retake

import (
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// rawsOf holds the bytes of all, when one of them is not UTF-8: a list and its
// twin have the same places.
func rawsOf(all []string) [][]byte {
	if !slices.ContainsFunc(all, func(s string) bool { return !utf8.ValidString(s) }) {
		return nil
	}
	raw := make([][]byte, len(all))
	for i, s := range all {
		raw[i] = []byte(s)
	}
	return raw
}

func restoreAll(all *[]string, raw [][]byte) {
	if raw == nil {
		return
	}
	*all = make([]string, len(raw))
	for i, b := range raw {
		(*all)[i] = string(b)
	}
}

// MarshalJSON keeps a path that is not UTF-8.
func (s Step) MarshalJSON() ([]byte, error) {
	type plain Step
	return json.Marshal(struct {
		plain
		Raw     []byte `json:"path_raw,omitempty"`
		UnitRaw []byte `json:"unit_raw,omitempty"`
	}{plain(s), rawOf(s.Path), rawOf(s.Unit)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Step) UnmarshalJSON(b []byte) error {
	type plain Step
	v := struct {
		*plain
		Raw     []byte `json:"path_raw"`
		UnitRaw []byte `json:"unit_raw"`
	}{plain: (*plain)(s)}
	err := json.Unmarshal(b, &v)
	restore(&s.Path, v.Raw)
	restore(&s.Unit, v.UnitRaw)
	return err
}

// MarshalJSON keeps paths that are not UTF-8.
func (k Keep) MarshalJSON() ([]byte, error) {
	type plain Keep
	return json.Marshal(struct {
		plain
		Raw     []byte `json:"path_raw,omitempty"`
		SideRaw []byte `json:"side_raw,omitempty"`
	}{plain(k), rawOf(k.Path), rawOf(k.Side)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (k *Keep) UnmarshalJSON(b []byte) error {
	type plain Keep
	v := struct {
		*plain
		Raw     []byte `json:"path_raw"`
		SideRaw []byte `json:"side_raw"`
	}{plain: (*plain)(k)}
	err := json.Unmarshal(b, &v)
	restore(&k.Path, v.Raw)
	restore(&k.Side, v.SideRaw)
	return err
}

// MarshalJSON keeps a path that is not UTF-8.
func (f Failure) MarshalJSON() ([]byte, error) {
	type plain Failure
	return json.Marshal(struct {
		plain
		Raw []byte `json:"path_raw,omitempty"`
	}{plain(f), rawOf(f.Path)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Failure) UnmarshalJSON(b []byte) error {
	type plain Failure
	v := struct {
		*plain
		Raw []byte `json:"path_raw"`
	}{plain: (*plain)(f)}
	err := json.Unmarshal(b, &v)
	restore(&f.Path, v.Raw)
	return err
}

// MarshalJSON keeps a path that is not UTF-8.
func (d DamagedPath) MarshalJSON() ([]byte, error) {
	type plain DamagedPath
	return json.Marshal(struct {
		plain
		Raw []byte `json:"path_raw,omitempty"`
	}{plain(d), rawOf(d.Path)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *DamagedPath) UnmarshalJSON(b []byte) error {
	type plain DamagedPath
	v := struct {
		*plain
		Raw []byte `json:"path_raw"`
	}{plain: (*plain)(d)}
	err := json.Unmarshal(b, &v)
	restore(&d.Path, v.Raw)
	return err
}

// MarshalJSON keeps paths that are not UTF-8.
func (p Plan) MarshalJSON() ([]byte, error) {
	type plain Plan
	return json.Marshal(struct {
		plain
		Raw [][]byte `json:"paths_raw,omitempty"`
	}{plain(p), rawsOf(p.Paths)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Plan) UnmarshalJSON(b []byte) error {
	type plain Plan
	v := struct {
		*plain
		Raw [][]byte `json:"paths_raw"`
	}{plain: (*plain)(p)}
	err := json.Unmarshal(b, &v)
	restoreAll(&p.Paths, v.Raw)
	return err
}

// MarshalJSON keeps paths that are not UTF-8.
func (o Obstacle) MarshalJSON() ([]byte, error) {
	type plain Obstacle
	return json.Marshal(struct {
		plain
		Raw [][]byte `json:"paths_raw,omitempty"`
	}{plain(o), rawsOf(o.Paths)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (o *Obstacle) UnmarshalJSON(b []byte) error {
	type plain Obstacle
	v := struct {
		*plain
		Raw [][]byte `json:"paths_raw"`
	}{plain: (*plain)(o)}
	err := json.Unmarshal(b, &v)
	restoreAll(&o.Paths, v.Raw)
	return err
}

// MarshalJSON keeps paths that are not UTF-8.
func (r Return) MarshalJSON() ([]byte, error) {
	type plain Return
	return json.Marshal(struct {
		plain
		Raw [][]byte `json:"paths_raw,omitempty"`
	}{plain(r), rawsOf(r.Paths)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Return) UnmarshalJSON(b []byte) error {
	type plain Return
	v := struct {
		*plain
		Raw [][]byte `json:"paths_raw"`
	}{plain: (*plain)(r)}
	err := json.Unmarshal(b, &v)
	restoreAll(&r.Paths, v.Raw)
	return err
}

// MarshalJSON keeps paths that are not UTF-8.
func (t Turn) MarshalJSON() ([]byte, error) {
	type plain Turn
	return json.Marshal(struct {
		plain
		Raw [][]byte `json:"paths_raw,omitempty"`
	}{plain(t), rawsOf(t.Paths)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Turn) UnmarshalJSON(b []byte) error {
	type plain Turn
	v := struct {
		*plain
		Raw [][]byte `json:"paths_raw"`
	}{plain: (*plain)(t)}
	err := json.Unmarshal(b, &v)
	restoreAll(&t.Paths, v.Raw)
	return err
}

// MarshalJSON keeps a path that is not UTF-8.
func (g GitLeft) MarshalJSON() ([]byte, error) {
	type plain GitLeft
	return json.Marshal(struct {
		plain
		Raw []byte `json:"path_raw,omitempty"`
	}{plain(g), rawOf(g.Path)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (g *GitLeft) UnmarshalJSON(b []byte) error {
	type plain GitLeft
	v := struct {
		*plain
		Raw []byte `json:"path_raw"`
	}{plain: (*plain)(g)}
	err := json.Unmarshal(b, &v)
	restore(&g.Path, v.Raw)
	return err
}

// MarshalJSON keeps a path that is not UTF-8.
func (l LostRoot) MarshalJSON() ([]byte, error) {
	type plain LostRoot
	return json.Marshal(struct {
		plain
		Raw []byte `json:"root_raw,omitempty"`
	}{plain(l), rawOf(l.Root)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (l *LostRoot) UnmarshalJSON(b []byte) error {
	type plain LostRoot
	v := struct {
		*plain
		Raw []byte `json:"root_raw"`
	}{plain: (*plain)(l)}
	err := json.Unmarshal(b, &v)
	restore(&l.Root, v.Raw)
	return err
}

// MarshalJSON keeps a command and a path that are not UTF-8.
func (h Holder) MarshalJSON() ([]byte, error) {
	type plain Holder
	return json.Marshal(struct {
		plain
		CommandRaw []byte `json:"command_raw,omitempty"`
		Raw        []byte `json:"path_raw,omitempty"`
	}{plain(h), rawOf(h.Command), rawOf(h.Path)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (h *Holder) UnmarshalJSON(b []byte) error {
	type plain Holder
	v := struct {
		*plain
		CommandRaw []byte `json:"command_raw"`
		Raw        []byte `json:"path_raw"`
	}{plain: (*plain)(h)}
	err := json.Unmarshal(b, &v)
	restore(&h.Command, v.CommandRaw)
	restore(&h.Path, v.Raw)
	return err
}
