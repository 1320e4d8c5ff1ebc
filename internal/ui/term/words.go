package term

// OrWord is a text, or a word where there is none.
func OrWord(text, none string) string {
	if text == "" {
		return none
	}
	return text
}
