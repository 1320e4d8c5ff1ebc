package xray

import (
	"encoding/json"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/retake-dev/retake"
)

const reasonNotTOML failReason = "is not TOML"

func readTOML(in input) ([]retake.Trait, error) {
	l := newTraitList(in)
	if err := newSettingCollector(l).parseTOML(in.data); err != nil {
		return nil, err
	}
	return l.traits, nil
}

func (f *settingCollector) parseTOML(data []byte) error {
	var doc map[string]any
	if err := decodeTOML(data, &doc); err != nil {
		return err
	}
	return f.addValue(doc)
}

// decodeTOML first rejects input that would exhaust the decoder: it is recursive, and takes
// quadratic time for dotted keys.
func decodeTOML(data []byte, into any) error {
	if isTooNested(data) || isTooDotted(data) {
		return reasonTooDeep
	}
	if _, err := toml.Decode(string(data), into); err != nil {
		return reasonNotTOML
	}
	return nil
}

// maxBrackets is far above what people nest, and what brackets in strings add up to.
const maxBrackets = 10 * maxDepth

// isTooNested counts brackets, including those in strings.
func isTooNested(data []byte) bool {
	depth := 0
	for _, c := range data {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		}
		if depth > maxBrackets {
			return true
		}
	}
	return false
}

// maxDots is far above what a key or a sentence has.
const maxDots = 3 * maxDepth

// isTooDotted counts the dots that could belong to one key, including those in strings.
func isTooDotted(data []byte) bool {
	dots := 0
	for _, c := range data {
		switch c {
		case '.':
			dots++
		case '=', ',', '[', ']', '{', '}', '\n':
			dots = 0
		}
		if dots > maxDots {
			return true
		}
	}
	return false
}

// localTimes maps the names of the zones that the decoder uses for times without a zone to
// their formats.
var localTimes = map[string]string{
	"datetime-local": "2006-01-02T15:04:05.999999999",
	"date-local":     "2006-01-02",
	"time-local":     "15:04:05.999999999",
}

// scalarText formats a scalar as JSON does.
func scalarText(v any) string {
	if t, ok := v.(time.Time); ok {
		if form, ok := localTimes[t.Location().String()]; ok {
			return t.Format(form)
		}
		return t.Format(time.RFC3339Nano)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "" // an infinite number
	}
	return string(b)
}
