package xray

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secrets"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Kinds of traits that only Facts knows.
const (
	kindDirect retake.FactKind = "direct" // a package that a project asks for by name
	kindMaybe  retake.FactKind = "maybe"  // a package that a lock file holds for some machines
)

// apart stands between what is shown of a value and what it is compared by.
const apart = "\x00"

// hidden stands where a value is likely a secret.
const hidden = "hidden"

const (
	maxName    = 200 // columns of a name
	maxShown   = 80  // columns of a value
	maxColumns = 400 // columns of a list of columns
)

// digest compares a value without telling it.
func (in input) digest(v string) string {
	h := hmac.New(sha256.New, in.key)
	h.Write([]byte(v))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// name makes a foreign name bounded. Long ones stay different.
func (in input) name(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, apart, "�"), "�")
	if len(s) <= maxName || termtext.Width(s) <= maxName {
		return s
	}
	return termtext.Cut(s, maxName-17) + in.digest(s)
}

// value makes a foreign value bounded; what is cut is still compared as a whole.
func (in input) value(s string, width int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, apart, "�"), "�")
	if termtext.Width(s) <= width {
		return s
	}
	return termtext.Cut(s, width) + apart + in.digest(s)
}

// masked is a value in which likely secrets are covered.
func (in input) masked(s string) string {
	m, kinds := secrets.Mask(s)
	if len(kinds) == 0 {
		return in.value(s, maxShown)
	}
	return termtext.Cut(strings.ReplaceAll(m, apart, "�"), maxShown) + apart + in.digest(s)
}

// shown is what people see of a value, compared what else tells it apart.
func shown(v string) string {
	v, _, _ = strings.Cut(v, apart)
	return v
}

// quote writes a string as JSON does, without the quotes.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// list gathers traits. One name of one kind and group has one value unless it may have
// several.
type list struct {
	in     input
	traits []retake.Trait
	at     map[string]int
}

func newList(in input) *list { return &list{in: in, at: map[string]int{}} }

// pack adds a package. What has no name or version is none.
func (l *list) pack(group, name, version string, direct bool) {
	l.packAs(retake.FactPackage, group, name, version, direct)
}

func (l *list) packAs(kind retake.FactKind, group, name, version string, direct bool) {
	if name == "" || version == "" {
		return
	}
	t := retake.Trait{Kind: kind, Group: group, Name: l.in.name(name), Value: l.in.value(version, maxShown), Direct: direct}
	key := string(kind) + apart + group + apart + t.Name + apart + t.Value
	if i, ok := l.at[key]; ok {
		l.traits[i].Direct = l.traits[i].Direct || direct
		return
	}
	l.at[key] = len(l.traits)
	l.traits = append(l.traits, t)
}

// direct says that a project asks for a package.
func (l *list) direct(group, name string) {
	if name != "" {
		l.set(retake.Trait{Kind: kindDirect, Group: group, Name: l.in.name(name)})
	}
}

// set adds a trait; the same name again replaces it, as readers of such files do.
func (l *list) set(t retake.Trait) {
	key := string(t.Kind) + apart + t.Group + apart + t.Name
	if i, ok := l.at[key]; ok {
		l.traits[i] = t
		return
	}
	l.at[key] = len(l.traits)
	l.traits = append(l.traits, t)
}

// add adds a trait whose name may come again.
func (l *list) add(t retake.Trait) { l.traits = append(l.traits, t) }
