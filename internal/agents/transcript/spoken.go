package transcript

import (
	"fmt"
	"io"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secrets"
)

// maxConversation is far above what agents write in one session.
const maxConversation = 512 << 20

// ReadMasked reads what was said in a conversation, with likely secrets masked.
func ReadMasked(agent string, r io.Reader) ([]retake.SpokenLine, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxConversation))
	if err != nil {
		return nil, fmt.Errorf("read conversation: %w", err)
	}
	out := []retake.SpokenLine{}
	for _, line := range Read(agent, b) {
		text, _ := secrets.Mask(line.Text)
		out = append(out, retake.SpokenLine{Who: line.Who, Tool: line.Tool, Text: text})
	}
	return out, nil
}
