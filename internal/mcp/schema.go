package mcp

// What goes into a tool is written by hand, because limits and choices belong to it;
// what comes out is told from the types of the answers.

type fields map[string]any

func object(required []string, props fields) map[string]any {
	s := map[string]any{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func str(about string, most int) map[string]any {
	return map[string]any{"type": "string", "description": about, "minLength": 1, "maxLength": most}
}

func choice(about string, words ...string) map[string]any {
	return map[string]any{"type": "string", "description": about, "enum": words}
}

func whole(about string, low, high, unsaid int) map[string]any {
	return map[string]any{"type": "integer", "description": about, "minimum": low, "maximum": high, "default": unsaid}
}

func list(about string, most int, of map[string]any) map[string]any {
	return map[string]any{"type": "array", "description": about, "maxItems": most, "items": of}
}

const (
	maxRef    = 200
	maxIntent = 1000
	maxPath   = 4096
	maxPaths  = 100
)

func refField(about string) map[string]any { return str(about, maxRef) }

func pathsField(about string) map[string]any {
	return list(about+" Relative to the root of the workspace, or absolute.", maxPaths, str("a path", maxPath))
}
