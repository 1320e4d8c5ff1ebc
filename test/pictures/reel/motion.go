package reel

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake/test/pictures/shot"
)

// fade is how long it takes until one thing has become another, in seconds.
const fade = .2

// The colors that a terminal has none of, as the console has them.
const (
	lightColors = `.page{fill:#F3F1EC;stroke:#D6D2C8}.bar{fill:#FFFFFF;stroke:#D6D2C8}.line{stroke:#E8E5DE}.done{fill:#1E1D1A}.todo{fill:#D6D2C8}` +
		`.bad{fill:#FBE3E0}.good{fill:#DDF0E4}.gone{fill:none;stroke:#B4291F}.empty{fill:none;stroke:#A8A398}.photo{stroke:#D6D2C8;stroke-width:2}`
	darkColors = `.page{fill:#0F0F0E;stroke:#3B3934}.bar{fill:#1A1A18;stroke:#3B3934}.line{stroke:#2A2926}.done{fill:#ECEAE3}.todo{fill:#3B3934}` +
		`.bad{fill:#3A1F1B}.good{fill:#192E20}.gone{fill:none;stroke:#F48D83}.empty{fill:none;stroke:#67635B}.photo{stroke:#3B3934;stroke-width:2}`

	letters = `.caption,.name,.count{font-family:Inter,ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}` +
		`.caption{font-size:27px;font-weight:600}.name{font-size:17px}.count{font-size:24px;font-weight:600;text-anchor:middle}.gone,.empty{stroke-dasharray:4 4}`
)

// style has the last frame without motion, and puts the motion over it (R3).
func style(frames []frame, dark bool) string {
	colors := lightColors
	if dark {
		colors = darkColors
	}
	total := 0.0
	for _, f := range frames {
		total += f.seconds
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s%s.frame{opacity:0}.n%d{opacity:1}", shot.Style(dark), letters, colors, len(frames))
	begin := 0.0
	for i, f := range frames {
		fmt.Fprintf(&b, ".n%d{animation:n%[1]d %gs linear infinite}%s", i+1, total, keyframes(i, len(frames), begin, begin+f.seconds, total))
		begin += f.seconds
	}
	// Every part waits for its own time in the round. It is hidden again before the next one, when
	// its frame is long covered.
	percent := func(s float64) float64 { return 100 * s / total }
	fmt.Fprintf(&b, ".in{animation:in %gs linear infinite backwards}@keyframes in{0%%{opacity:0}%.3f%%,%.3f%%{opacity:1}%.3f%%,100%%{opacity:0}}",
		total, percent(fade), percent(4), percent(4.01))
	fmt.Fprintf(&b, ".out{animation:out %gs linear infinite backwards}@keyframes out{0%%{opacity:1}%.3f%%,%.3f%%{opacity:0}%.3f%%,100%%{opacity:1}}",
		total, percent(fade), percent(4), percent(4.01))
	b.WriteString("@media (prefers-reduced-motion: reduce){*{animation:none!important}}")
	return b.String()
}

// keyframes show a frame from one time to another. It comes over the frame before, which stays until
// then; the last one goes, and the first is below it.
func keyframes(i, of int, begin, end, total float64) string {
	type key struct{ at, opacity float64 }
	keys := []key{{begin - fade, 0}, {begin, 1}, {end, 1}, {end + .01, 0}}
	switch i {
	case 0:
		keys = []key{{end, 1}, {end + .01, 0}, {total - fade - .01, 0}, {total - fade, 1}}
	case of - 1:
		keys = []key{{begin - fade, 0}, {begin, 1}, {end - fade, 1}, {end, 0}}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "@keyframes n%d{0%%{opacity:%g}", i+1, keys[0].opacity)
	for _, k := range keys {
		fmt.Fprintf(&b, "%.3f%%{opacity:%g}", 100*k.at/total, k.opacity)
	}
	fmt.Fprintf(&b, "100%%{opacity:%g}}", keys[len(keys)-1].opacity)
	return b.String()
}

// delay is when something begins to move in the first round.
func delay(at float64) string { return fmt.Sprintf("animation-delay:%.2fs", at) }
