package retake

import (
	"encoding/json"
	"strings"
)

// MarshalJSON keeps paths that are not UTF-8.
func (i Item) MarshalJSON() ([]byte, error) {
	type plain Item
	return json.Marshal(struct {
		plain
		Raw     []byte `json:"path_raw,omitempty"`
		FromRaw []byte `json:"from_raw,omitempty"`
	}{plain(i), rawOf(i.Path), rawOf(i.From)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (i *Item) UnmarshalJSON(b []byte) error {
	type plain Item
	v := struct {
		*plain
		Raw     []byte `json:"path_raw"`
		FromRaw []byte `json:"from_raw"`
	}{plain: (*plain)(i)}
	err := json.Unmarshal(b, &v)
	restore(&i.Path, v.Raw)
	restore(&i.From, v.FromRaw)
	return err
}

// MarshalJSON keeps a path that is not UTF-8.
func (f Fact) MarshalJSON() ([]byte, error) {
	type plain Fact
	return json.Marshal(struct {
		plain
		Raw []byte `json:"path_raw,omitempty"`
	}{plain(f), rawOf(f.Path)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Fact) UnmarshalJSON(b []byte) error {
	type plain Fact
	v := struct {
		*plain
		Raw []byte `json:"path_raw"`
	}{plain: (*plain)(f)}
	err := json.Unmarshal(b, &v)
	restore(&f.Path, v.Raw)
	return err
}

// MarshalJSON keeps a path that is not UTF-8.
func (u Unread) MarshalJSON() ([]byte, error) {
	type plain Unread
	return json.Marshal(struct {
		plain
		Raw []byte `json:"path_raw,omitempty"`
	}{plain(u), rawOf(u.Path)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (u *Unread) UnmarshalJSON(b []byte) error {
	type plain Unread
	v := struct {
		*plain
		Raw []byte `json:"path_raw"`
	}{plain: (*plain)(u)}
	err := json.Unmarshal(b, &v)
	restore(&u.Path, v.Raw)
	return err
}

// MarshalJSON keeps a line that is not UTF-8.
func (l BlameLine) MarshalJSON() ([]byte, error) {
	type plain BlameLine
	return json.Marshal(struct {
		plain
		Raw []byte `json:"text_raw,omitempty"`
	}{plain(l), rawOf(l.Text)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (l *BlameLine) UnmarshalJSON(b []byte) error {
	type plain BlameLine
	v := struct {
		*plain
		Raw []byte `json:"text_raw"`
	}{plain: (*plain)(l)}
	err := json.Unmarshal(b, &v)
	restore(&l.Text, v.Raw)
	return err
}

// MarshalJSON keeps a path that is not UTF-8.
func (b Blame) MarshalJSON() ([]byte, error) {
	type plain Blame
	return json.Marshal(struct {
		plain
		Raw []byte `json:"path_raw,omitempty"`
	}{plain(b), rawOf(b.Path)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (b *Blame) UnmarshalJSON(text []byte) error {
	type plain Blame
	v := struct {
		*plain
		Raw []byte `json:"path_raw"`
	}{plain: (*plain)(b)}
	err := json.Unmarshal(text, &v)
	restore(&b.Path, v.Raw)
	return err
}

// GitWords is a fact of git in a few words: "git reset main 3d365a2 → 44bfc39 (1 commit back)".
func (f Fact) GitWords() string {
	words := "git " + f.Name
	switch {
	case f.What == Deleted && f.Before != "":
		words += " deleted, was " + f.Before
	case f.What == Deleted:
		words += " deleted"
	case f.What == Added && f.Name == "stash":
	case f.What == Added:
		words += " created"
	case f.Before != "" && f.After != "" && f.Before != f.After:
		words += " " + f.Before + " → " + f.After
	}
	if f.Group != "" {
		words += " (" + f.Group + ")"
	}
	if dir := strings.TrimSuffix(f.Path, ".git/"); dir != "" {
		words += " in " + dir
	}
	return words
}
