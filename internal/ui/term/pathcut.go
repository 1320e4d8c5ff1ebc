package term

import "github.com/retake-dev/retake/internal/pure/termtext"

// cutTheSame reports whether paths that differ look the same once their beginning is cut.
func cutTheSame(l Style, paths []string, width int) bool {
	seen := map[string]string{}
	for _, p := range paths {
		cut := cutPathStart(l, p, width)
		if other, ok := seen[cut]; ok && other != p {
			return true
		}
		seen[cut] = p
	}
	return false
}

// CutPath cuts a path that does not fit: at its beginning, or in the middle.
func (l Style) CutPath(path string, width int, middle bool) string {
	if !middle || termtext.Width(path) <= width {
		return cutPathStart(l, path, width)
	}
	head, used := "", 0
	for c, w := range termtext.Characters(path) {
		if used += w; used > width/2 {
			break
		}
		head += c
	}
	return head + cutPathStart(l, path[len(head):], width-termtext.Width(head))
}
