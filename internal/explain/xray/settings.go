package xray

import (
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/pattern"
	"github.com/retake-dev/retake/internal/pure/secrets"
)

var settingReaders = []reader{
	{name: "env@1", limit: maxText, read: readEnv, wants: isEnv},
	{name: "json@2", limit: maxText, read: readJSON, wants: func(p place) bool {
		return (p.ext == ".json" || p.ext == ".jsonc") && configures(p)
	}},
	{name: "yaml@2", limit: maxText, read: readYAML, wants: func(p place) bool {
		return (p.ext == ".yaml" || p.ext == ".yml") && configures(p)
	}},
	{name: "toml@2", limit: maxText, read: readTOML, wants: func(p place) bool { return p.ext == ".toml" && configures(p) }},
}

// configures leaves out the files of projects, which have readers of their own.
func configures(p place) bool {
	return p.ours() && p.class != pathclass.Lock && p.class != pathclass.Log && !isProject(p)
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
	t := retake.Trait{Kind: retake.FactSetting, Name: f.l.in.name(strings.Join(f.path, "."))}
	switch {
	case f.hides(text, isText):
		t.Value = hidden + apart + f.l.in.digest(text)
	case isText:
		t.Value = f.l.in.value(quote(text), maxShown)
	default:
		t.Value = f.l.in.value(text, maxShown)
	}
	f.l.set(t)
	return nil
}

// hides reports whether the value at the path is likely a secret: by its keys or its looks.
func (f *flat) hides(text string, isText bool) bool {
	key, above := f.path[len(f.path)-1], ""
	for _, p := range f.path[:len(f.path)-1] {
		if strings.Trim(p, "0123456789") != "" { // the place in a list is no word
			above = p
		}
	}
	if strings.Trim(key, "0123456789") == "" {
		key, above = above, ""
	}
	if !isText { // a PIN, but not how many tokens there may be
		return speaks(key) && strings.Trim(text, "0123456789.-+eE_") == ""
	}
	numeric := strings.Trim(text, "0123456789") == ""
	if !refers(text) && (speaks(key) || speaks(above+key) || !numeric && (speaksOfMany(key) || speaksOfMany(above))) {
		return true
	}
	return len(secrets.Find([]byte(`"`+key+`": "`+text+`"`))) > 0
}

// secretKeys are how the last key of a path ends when its value is a secret, however
// short it is.
var secretKeys = []string{
	"password", "passwd", "pwd", "passphrase", "secret", "token", "apikey", "secretkey", "secretkeybase", "privatekey", "accesskey", "signingkey", "encryptionkey", "masterkey",
	"credential", "credentials", "dbpass", "userpass",
}

// speaks reports that a key itself says that its value is a secret.
func speaks(key string) bool {
	key = strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(key))
	return key == "pass" || slices.ContainsFunc(secretKeys, func(end string) bool { return strings.HasSuffix(key, end) })
}

// speaksOfMany is speaks for the key of a list or a table of secrets.
func speaksOfMany(key string) bool {
	one, many := strings.CutSuffix(key, "s")
	return many && speaks(one)
}

var reference = pattern.Late(`^(\$[A-Z_][A-Z0-9_]*|\$\{[^:]*\}|\{\{.*\}\}|<[^<>]*>|\$\(.*\))$`)

// refers reports that a value is looked up elsewhere, or is none.
func refers(v string) bool { return v == "" || reference().MatchString(v) }

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
