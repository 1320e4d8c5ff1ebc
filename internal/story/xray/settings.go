package xray

import (
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/secret"
	"github.com/retake-dev/retake/internal/theme"
)

var settingReaders = []reader{
	{name: "env@1", limit: maxText, read: readEnv, wants: isEnv},
	{name: "json@1", limit: maxText, read: readJSON, wants: func(p place) bool {
		return (p.ext == ".json" || p.ext == ".jsonc") && configures(p)
	}},
	{name: "yaml@1", limit: maxText, read: readYAML, wants: func(p place) bool {
		return (p.ext == ".yaml" || p.ext == ".yml") && configures(p)
	}},
	{name: "toml@1", limit: maxText, read: readTOML, wants: func(p place) bool { return p.ext == ".toml" && configures(p) }},
}

// configures leaves out the files of projects, which have readers of their own.
func configures(p place) bool {
	return p.ours() && p.class != theme.Lock && p.class != theme.Log && !isProject(p)
}

// Bounds of what is still a setting.
const (
	maxLeaves = 2000
	maxDepth  = 100
	maxNodes  = 50 * maxLeaves // empty ones too
)

const tooMany why = "more than 2,000 keys"

// flat gathers the leaves of a document under their paths.
type flat struct {
	l     *list
	path  []string
	seen  int // leaves
	nodes int

	group  string  // of the packages that blocks name
	blocks []block // what they hold are no settings
}

func newFlat(l *list) *flat { return &flat{l: l} }

// enter goes down one key, and counts.
func (f *flat) enter(key string) error {
	f.nodes++
	if len(f.path) >= maxDepth {
		return tooDeep
	}
	if f.nodes > maxNodes {
		return tooMany
	}
	f.path = append(f.path, key)
	return nil
}

func (f *flat) leave() { f.path = f.path[:len(f.path)-1] }

// leaf adds a scalar at the path. A document that is one scalar has no key.
func (f *flat) leaf(text string, isText bool) error {
	if len(f.path) == 0 || f.wish(text) {
		return nil
	}
	if f.seen++; f.seen > maxLeaves {
		return tooMany
	}
	key := f.path[len(f.path)-1]
	t := retake.Trait{Kind: retake.FactSetting, Name: f.l.in.name(strings.Join(f.path, "."))}
	switch {
	case isText && (speaks(key) && !refers(text) || len(secret.Find([]byte(`"`+key+`": "`+text+`"`))) > 0):
		t.Value = hidden + apart + f.l.in.digest(text)
	case isText:
		t.Value = f.l.in.value(quote(text), maxShown)
	default:
		t.Value = f.l.in.value(text, maxShown)
	}
	f.l.set(t)
	return nil
}

// secretKeys are how the last key of a path ends when its value is a secret, however
// short it is.
var secretKeys = []string{
	"password", "passwd", "pwd", "passphrase", "secret", "token", "apikey", "secretkey", "privatekey", "accesskey", "signingkey", "encryptionkey", "credential", "credentials",
}

// speaks reports that a key itself says that its value is a secret.
func speaks(key string) bool {
	key = strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(key))
	return slices.ContainsFunc(secretKeys, func(end string) bool { return strings.HasSuffix(key, end) })
}

// refers reports that a value is looked up elsewhere, or is none.
func refers(v string) bool {
	return v == "" || v[0] == '$' || strings.HasPrefix(v, "{{") || strings.HasPrefix(v, "<")
}

// walk gathers what a decoder made of a document.
func (f *flat) walk(v any) error {
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			if err := f.down(key, e); err != nil {
				return err
			}
		}
	case []map[string]any:
		for i, e := range v {
			if err := f.down(strconv.Itoa(i), e); err != nil {
				return err
			}
		}
	case []any:
		for i, e := range v {
			if err := f.down(strconv.Itoa(i), e); err != nil {
				return err
			}
		}
	case string:
		return f.leaf(v, true)
	default:
		return f.leaf(scalar(v), false)
	}
	return nil
}

func (f *flat) down(key string, v any) error {
	if err := f.enter(key); err != nil {
		return err
	}
	defer f.leave()
	return f.walk(v)
}
