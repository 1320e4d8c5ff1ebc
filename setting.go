package retake

// Setting is one key of the user's configuration.
type Setting struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Default string `json:"default"`
	From    string `json:"from"` // where the value comes from, in a word
	Help    string `json:"help"`
}
