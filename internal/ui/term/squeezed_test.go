package term

import (
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// What is too long for a row keeps its values, and loses what leads to them.
func TestAPointKeepsItsValues(t *testing.T) {
	const text = "deploy/targets.yaml targets.production.host web1.example.com → oslo.example.com, 1 more key"
	for room, want := range map[int]string{
		100: text,
		85:  "targets.yaml targets.production.host web1.example.com → oslo.example.com, 1 more key",
		65:  "targets.yaml …host web1.example.com → oslo.example.com, 1 more key",
		20:  "targets.yaml …host web1.example.com → oslo.example.com, 1 more key",
	} {
		if got := squeezePoint(Style{Glyphs: termtext.Unicode}, text, room); got != want {
			t.Errorf("in %d columns: %q", room, got)
		}
	}
	l := Style{Glyphs: termtext.Unicode}
	points := []retake.Point{
		{Theme: retake.ThemePackages, Text: "npm +12 packages (+connect-sqlite3, +express-session)"},
		{Theme: retake.ThemeSettings, Text: "config/app.json login.store none → sqlite3"},
		{Theme: retake.ThemeSource, Text: "src/auth.ts", Plus: 7},
	}
	for width, want := range map[int]string{
		120: "npm +12 packages (+connect-sqlite3, +express-session) · config/app.json login.store none → sqlite3 · src/auth.ts +7",
		70:  "npm +12 packages · app.json …store none → sqlite3 · src/auth.ts +7",
		60:  "npm +12 packages · app.json …store none → sqlite3 · 1 more",
		30:  "npm +12 packages · 2 more",
		16:  "npm +1… · 2 more",
	} {
		if got := drawPoints(l, points, width, false); got != want {
			t.Errorf("in %d columns: %q", width, got)
		}
	}
	changed := []retake.Point{{Theme: retake.ThemePackages, Text: "npm −2 packages, 2 changed (glob 10.4.5 → 11.0.0, yargs 17.7.2 → 18.0.0)"}, {Theme: retake.ThemeSource, Text: "package.json", Plus: 2, Minus: 2}}
	if got, want := drawPoints(l, changed, 70, false), "npm −2 packages, 2 changed (glob 10.4.5 → 11.0.0) · package.json +2 −2"; got != want {
		t.Errorf("%q", got)
	}
	for _, other := range []string{
		"renamed src/a/very/long/name/of/a/file.go → b.go", "my dir/config.json a.b.c 1 → 2",
		"etc/passwd 0644 → 0640", "deploy/cluster.yaml +12 keys", "", "a b c →",
	} {
		if got := squeezePoint(Style{Glyphs: termtext.Unicode}, other, 10); got != other {
			t.Errorf("%q became %q", other, got)
		}
	}
}
