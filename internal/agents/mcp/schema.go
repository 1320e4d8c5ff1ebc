package mcp

// What goes into a tool is written by hand, because limits and choices belong to it, and
// briefly: every agent reads all of it at each request.

type schemaFields map[string]any

func objectSchema(required []string, props schemaFields) map[string]any {
	s := map[string]any{"type": "object", "properties": props, "additionalProperties": false}
	for _, name := range required {
		if p, ok := props[name].(map[string]any); ok && p["type"] == "string" && p["enum"] == nil {
			p["minLength"] = 1
		}
	}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// withDescription adds a description, unless it is empty because the name says enough.
func withDescription(words string, s map[string]any) map[string]any {
	if words != "" {
		s["description"] = words
	}
	return s
}

func stringSchema(words string, most int) map[string]any {
	return withDescription(words, map[string]any{"type": "string", "maxLength": most})
}

func enumSchema(words ...string) map[string]any {
	return map[string]any{"type": "string", "enum": words}
}

func integerSchema(words string, low, high, unsaid int) map[string]any {
	return withDescription(words, map[string]any{"type": "integer", "minimum": low, "maximum": high, "default": unsaid})
}

func listSchema(words string, most int, of map[string]any) map[string]any {
	return withDescription(words, map[string]any{"type": "array", "maxItems": most, "items": of})
}

const (
	maxRef    = 200
	maxIntent = 1000
	maxPath   = 4096
	maxPaths  = 100
)

// refDescription lists the ways to name a checkpoint.
const refDescription = "number, 10:27, latest, start or pin"

func refField(words string) map[string]any { return stringSchema(words, maxRef) }

func pathsField(words string) map[string]any {
	return listSchema(words, maxPaths, stringSchema("", maxPath))
}
