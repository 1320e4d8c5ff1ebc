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

// Kinds of traits that only CompareReadings knows.
const (
	kindDirect retake.FactKind = "direct" // a package that a project asks for by name
	kindMaybe  retake.FactKind = "maybe"  // a package that a lock file holds for some machines
)

// valueSeparator separates the shown part of a value from the digest it is compared by.
const valueSeparator = "\x00"

// hiddenValue replaces a value that is likely a secret.
const hiddenValue = "hidden"

const (
	maxNameWidth    = 200 // columns of a name
	maxShownWidth   = 80  // columns of a value
	maxColumnsWidth = 400 // columns of a list of columns
)

// digest returns a keyed digest, so that values can be compared without being disclosed.
func (in input) digest(v string) string {
	h := hmac.New(sha256.New, in.key)
	h.Write([]byte(v))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// boundName limits the length of an untrusted name. Long names stay distinct.
func (in input) boundName(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, valueSeparator, "�"), "�")
	if len(s) <= maxNameWidth || termtext.Width(s) <= maxNameWidth {
		return s
	}
	return termtext.Cut(s, maxNameWidth-17) + in.digest(s)
}

// boundValue limits the length of an untrusted value. A shortened value is still compared
// as a whole.
func (in input) boundValue(s string, width int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, valueSeparator, "�"), "�")
	if termtext.Width(s) <= width {
		return s
	}
	return termtext.Cut(s, width) + valueSeparator + in.digest(s)
}

// maskedValue returns a bounded value with likely secrets masked.
func (in input) maskedValue(s string) string {
	m, kinds := secrets.Mask(s)
	if len(kinds) == 0 {
		return in.boundValue(s, maxShownWidth)
	}
	return termtext.Cut(strings.ReplaceAll(m, valueSeparator, "�"), maxShownWidth) + valueSeparator + in.digest(s)
}

// shownValue returns the part of a value that people see, without its digest.
func shownValue(v string) string {
	v, _, _ = strings.Cut(v, valueSeparator)
	return v
}

// jsonString encodes a string as JSON does, without the quotes.
func jsonString(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// traitList collects traits. A name of one kind and group has one value, unless it is added
// with add.
type traitList struct {
	input  input
	traits []retake.Trait
	index  map[string]int
}

func newTraitList(in input) *traitList { return &traitList{input: in, index: map[string]int{}} }

// addPackage adds a package. Without a name or version it adds nothing.
func (l *traitList) addPackage(group, name, version string, direct bool) {
	l.addPackageAs(retake.FactPackage, group, name, version, direct)
}

func (l *traitList) addPackageAs(kind retake.FactKind, group, name, version string, direct bool) {
	if name == "" || version == "" {
		return
	}
	t := retake.Trait{Kind: kind, Group: group, Name: l.input.boundName(name), Value: l.input.boundValue(version, maxShownWidth), Direct: direct}
	key := string(kind) + valueSeparator + group + valueSeparator + t.Name + valueSeparator + t.Value
	if i, ok := l.index[key]; ok {
		l.traits[i].Direct = l.traits[i].Direct || direct
		return
	}
	l.index[key] = len(l.traits)
	l.traits = append(l.traits, t)
}

// addDirectDependency records that a project requests a package by name.
func (l *traitList) addDirectDependency(group, name string) {
	if name != "" {
		l.set(retake.Trait{Kind: kindDirect, Group: group, Name: l.input.boundName(name)})
	}
}

// set adds a trait. The same name again replaces it, as programs that read such files do.
func (l *traitList) set(t retake.Trait) {
	key := string(t.Kind) + valueSeparator + t.Group + valueSeparator + t.Name
	if i, ok := l.index[key]; ok {
		l.traits[i] = t
		return
	}
	l.index[key] = len(l.traits)
	l.traits = append(l.traits, t)
}

// add adds a trait whose name may occur more than once.
func (l *traitList) add(t retake.Trait) { l.traits = append(l.traits, t) }
