package termtext

// Glyphs are the symbols for drawing, named by their shape or meaning.
type Glyphs struct {
	Point      string
	Ring       string
	Diamond    string
	Arrow      string
	Dots       string
	Bar        string
	Yes        string
	No         string
	Wait       string
	Dash       string
	QuoteOpen  string
	QuoteClose string
	Minus      string
	More       string // text was cut here
	Fill       string
}

// The two sets. A user interface uses one of them throughout.
var (
	Unicode = Glyphs{
		Point: "●", Ring: "○", Diamond: "◇", Arrow: "→", Dots: "┊", Bar: "│",
		Yes: "✔", No: "✘", Wait: "◌", Dash: "–", QuoteOpen: "“", QuoteClose: "”",
		Minus: "−", More: "…", Fill: "━",
	}
	ASCII = Glyphs{
		Point: "@", Ring: "o", Diamond: ".", Arrow: ">", Dots: ":", Bar: "|",
		Yes: "ok", No: "NO", Wait: "..", Dash: "-", QuoteOpen: `"`, QuoteClose: `"`,
		Minus: "-", More: "~", Fill: "#",
	}
)

// Quote returns s in quotes.
func (g Glyphs) Quote(s string) string { return g.QuoteOpen + s + g.QuoteClose }
