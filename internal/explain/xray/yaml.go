package xray

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/retake-dev/retake"
)

const reasonNotYAML failReason = "is not YAML"

// readYAML reads all documents of a file. The keys of all but the first are prefixed with
// the document's number, so that those of the first do not change when others are added.
func readYAML(in input) ([]retake.Trait, error) {
	if isTooNested(in.data) {
		return nil, reasonTooDeep
	}
	l := newTraitList(in)
	f := newSettingCollector(l)
	d := yaml.NewDecoder(bytes.NewReader(in.data))
	for i := 0; ; i++ {
		var doc yaml.Node
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return l.traits, nil
		}
		if err != nil {
			return nil, reasonNotYAML
		}
		if err := f.addYAMLDocument(i, &doc); err != nil {
			return nil, err
		}
	}
}

func (f *settingCollector) addYAMLDocument(i int, n *yaml.Node) error {
	if i == 0 {
		return f.addYAMLNode(n)
	}
	if err := f.pushKey(strconv.Itoa(i)); err != nil {
		return err
	}
	defer f.popKey()
	return f.addYAMLNode(n)
}

// addYAMLNode adds a node and follows aliases. Aliases can make a short text stand for a
// huge document; the limits on depth and on nodes bound that.
func (f *settingCollector) addYAMLNode(n *yaml.Node) error {
	if f.nodes++; f.nodes > maxNodes {
		return reasonTooManyKeys
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 1 {
			return f.addYAMLNode(n.Content[0])
		}
		return nil
	case yaml.AliasNode:
		if len(f.path) >= maxDepth {
			return reasonTooDeep
		}
		return f.addYAMLNode(n.Alias)
	case yaml.MappingNode:
		return f.addYAMLMapping(n)
	case yaml.SequenceNode:
		for i, e := range n.Content {
			if err := f.addYAMLChild(strconv.Itoa(i), e); err != nil {
				return err
			}
		}
		return nil
	case yaml.ScalarNode:
		text, isText := yamlScalar(n)
		return f.addLeaf(text, isText)
	default:
		return nil
	}
}

func (f *settingCollector) addYAMLChild(key string, n *yaml.Node) error {
	if err := f.pushKey(key); err != nil {
		return err
	}
	defer f.popKey()
	return f.addYAMLNode(n)
}

// addYAMLMapping adds merged mappings first, so that the mapping's own keys win.
func (f *settingCollector) addYAMLMapping(n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; key.Tag == "!!merge" {
			if err := f.mergeYAML(n.Content[i+1]); err != nil {
				return err
			}
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Tag == "!!merge" || key.Kind != yaml.ScalarNode {
			continue
		}
		if err := f.addYAMLChild(key.Value, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// mergeYAML adds the mappings that a merge key refers to. Of several the first wins, so
// they are added in reverse.
func (f *settingCollector) mergeYAML(n *yaml.Node) error {
	if f.nodes++; f.nodes > maxNodes || len(f.path) >= maxDepth {
		return reasonTooManyKeys
	}
	switch n.Kind {
	case yaml.AliasNode:
		return f.mergeYAML(n.Alias)
	case yaml.MappingNode:
		return f.addYAMLMapping(n)
	case yaml.SequenceNode:
		for i := len(n.Content) - 1; i >= 0; i-- { // the first wins
			if err := f.mergeYAML(n.Content[i]); err != nil {
				return err
			}
		}
	default:
	}
	return nil
}

// yamlScalar formats a scalar as JSON does, where JSON has it.
func yamlScalar(n *yaml.Node) (text string, isText bool) {
	switch n.ShortTag() {
	case "!!null":
		return "null", false
	case "!!bool":
		return strings.ToLower(n.Value), false
	case "!!int":
		if v, err := strconv.ParseInt(strings.ReplaceAll(n.Value, "_", ""), 0, 64); err == nil {
			return strconv.FormatInt(v, 10), false
		}
		return n.Value, false
	case "!!float":
		if v, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64); err == nil && scalarText(v) != "" {
			return scalarText(v), false
		}
		return n.Value, false
	}
	return n.Value, true
}
