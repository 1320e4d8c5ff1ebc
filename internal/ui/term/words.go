package term

// TextOr is a text, or a word where there is none.
func TextOr(text, none string) string {
	if text == "" {
		return none
	}
	return text
}
