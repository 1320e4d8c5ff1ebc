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
	{name: "json@2", limit: maxText, read: readJSON, wants: func(p fileLocation) bool {
		return (p.ext == ".json" || p.ext == ".jsonc") && isSettingsFile(p)
	}},
	{name: "yaml@2", limit: maxText, read: readYAML, wants: func(p fileLocation) bool {
		return (p.ext == ".yaml" || p.ext == ".yml") && isSettingsFile(p)
	}},
	{name: "toml@2", limit: maxText, read: readTOML, wants: func(p fileLocation) bool { return p.ext == ".toml" && isSettingsFile(p) }},
}

// isSettingsFile excludes project files, which have readers of their own.
func isSettingsFile(p fileLocation) bool {
	return p.isWorkspaceFile() && p.class != pathclass.Lock && p.class != pathclass.Log && !isProjectFile(p)
}

// Limits on what still counts as settings.
const (
	maxLeaves = 2000
	maxDepth  = 100
	maxNodes  = 50 * maxLeaves // empty ones too
)

const reasonTooManyKeys failReason = "more than 2,000 keys"

// settingCollector collects the leaves of a document under their paths.
type settingCollector struct {
	list   *traitList
	path   []string
	leaves int // leaves
	nodes  int

	group  string            // of the packages that blocks name
	blocks []dependencyBlock // their contents are not settings
}

func newSettingCollector(l *traitList) *settingCollector { return &settingCollector{list: l} }

// pushKey descends into a key. It enforces the limits on depth and on the number of nodes.
func (f *settingCollector) pushKey(key string) error {
	f.nodes++
	if len(f.path) >= maxDepth {
		return reasonTooDeep
	}
	if f.nodes > maxNodes {
		return reasonTooManyKeys
	}
	f.path = append(f.path, key)
	return nil
}

func (f *settingCollector) popKey() { f.path = f.path[:len(f.path)-1] }

// addLeaf adds a scalar at the current path. A document that is a single scalar has no key
// and adds nothing.
func (f *settingCollector) addLeaf(text string, isText bool) error {
	if len(f.path) == 0 || f.addDependency(text) {
		return nil
	}
	if f.leaves++; f.leaves > maxLeaves {
		return reasonTooManyKeys
	}
	t := retake.Trait{Kind: retake.FactSetting, Name: f.list.input.boundName(strings.Join(f.path, "."))}
	switch {
	case f.isSecretValue(text, isText):
		t.Value = hiddenValue + valueSeparator + f.list.input.digest(text)
	case isText:
		t.Value = f.list.input.boundValue(jsonString(text), maxShownWidth)
	default:
		t.Value = f.list.input.boundValue(text, maxShownWidth)
	}
	f.list.set(t)
	return nil
}

// isSecretValue reports whether the value at the current path is likely a secret, judging
// by its keys or its form.
func (f *settingCollector) isSecretValue(text string, isText bool) bool {
	key, above := f.path[len(f.path)-1], ""
	for _, p := range f.path[:len(f.path)-1] {
		if strings.Trim(p, "0123456789") != "" { // a list index is not a name
			above = p
		}
	}
	if strings.Trim(key, "0123456789") == "" {
		key, above = above, ""
	}
	if !isText { // a PIN, but not how many tokens there may be
		return isSecretKey(key) && strings.Trim(text, "0123456789.-+eE_") == ""
	}
	numeric := strings.Trim(text, "0123456789") == ""
	if !isReference(text) && (isSecretKey(key) || isSecretKey(above+key) || !numeric && (isSecretKeyPlural(key) || isSecretKeyPlural(above))) {
		return true
	}
	return len(secrets.FindKinds([]byte(`"`+key+`": "`+text+`"`))) > 0
}

// secretKeySuffixes are how the last key of a path ends if its value is a secret, however
// short the value is.
var secretKeySuffixes = []string{
	"password", "passwd", "pwd", "passphrase", "secret", "token", "apikey", "secretkey", "secretkeybase", "privatekey", "accesskey", "signingkey", "encryptionkey", "masterkey",
	"credential", "credentials", "dbpass", "userpass",
}

// isSecretKey reports whether a key says that its value is a secret.
func isSecretKey(key string) bool {
	key = strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(key))
	return key == "pass" || slices.ContainsFunc(secretKeySuffixes, func(end string) bool { return strings.HasSuffix(key, end) })
}

// isSecretKeyPlural is isSecretKey for the key of a list or a table of secrets.
func isSecretKeyPlural(key string) bool {
	one, many := strings.CutSuffix(key, "s")
	return many && isSecretKey(one)
}

var referencePattern = pattern.Lazy(`^(\$[A-Z_][A-Z0-9_]*|\$\{[^:]*\}|\{\{.*\}\}|<[^<>]*>|\$\(.*\))$`)

// isReference reports whether a value is empty or only refers to another one.
func isReference(v string) bool { return v == "" || referencePattern().MatchString(v) }

// addValue adds everything in a decoded document.
func (f *settingCollector) addValue(v any) error {
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			if err := f.addChild(key, e); err != nil {
				return err
			}
		}
	case []map[string]any:
		for i, e := range v {
			if err := f.addChild(strconv.Itoa(i), e); err != nil {
				return err
			}
		}
	case []any:
		for i, e := range v {
			if err := f.addChild(strconv.Itoa(i), e); err != nil {
				return err
			}
		}
	case string:
		return f.addLeaf(v, true)
	default:
		return f.addLeaf(scalarText(v), false)
	}
	return nil
}

func (f *settingCollector) addChild(key string, v any) error {
	if err := f.pushKey(key); err != nil {
		return err
	}
	defer f.popKey()
	return f.addValue(v)
}
