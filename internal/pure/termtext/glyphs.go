package termtext

// Glyphs are the signs a face draws with, named by their shape or their word.
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
	More       string // something was cut here
	Fill       string
}

// The two sets. Every face uses one of them throughout.
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

// Quote sets s between quotes.
func (g Glyphs) Quote(s string) string { return g.QuoteOpen + s + g.QuoteClose }
