package style

// Glyphs are the marks of the workbench, each one cell wide.
type Glyphs struct {
	// Full is a filled cell.
	Full string
	// Rise are the cells filled from below by 1 to 7 eighths.
	Rise [8]string
	// Run are the cells filled from the left by 1 to 7 eighths.
	Run [8]string

	Rule, Line, Limit, Axis, Corner, Tick          string
	Up, Down, Cursor, Marked, Sep, Ellipsis, Arrow string

	Good, Hot, Late, Unknown, Cross, Check, Half, Wait string

	Minus, Plus, Equals, Times, AtMost, AtLeast, Dot, Start string
}

func glyphsFor(ascii bool) Glyphs {
	if ascii {
		return asciiGlyphs
	}
	return unicodeGlyphs
}

var unicodeGlyphs = Glyphs{
	Full: "█",
	Rise: [8]string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇"},
	Run:  [8]string{" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"},
	Rule: "─", Line: "│", Limit: "╌", Axis: "┤", Corner: "└", Tick: "┬",
	Up: "↑", Down: "↓", Cursor: "▌", Marked: "◆", Sep: "·", Ellipsis: "…", Arrow: "→",
	Good: "●", Hot: "▲", Late: "◌", Unknown: "?", Cross: "✗", Check: "✓", Half: "◐", Wait: "…",
	Minus: "−", Plus: "+", Equals: "=", Times: "×", AtMost: "≤", AtLeast: "≥", Dot: "·", Start: " ",
}

var asciiGlyphs = Glyphs{
	Full: "#",
	Rise: [8]string{" ", " ", " ", " ", "#", "#", "#", "#"},
	Run:  [8]string{" ", " ", " ", " ", "#", "#", "#", "#"},
	Rule: "-", Line: "|", Limit: "~", Axis: "+", Corner: "+", Tick: "+",
	Up: "^", Down: "v", Cursor: ">", Marked: "*", Sep: "-", Ellipsis: "~", Arrow: ">",
	Good: "o", Hot: "!", Late: "x", Unknown: "?", Cross: "X", Check: "*", Half: "%", Wait: ".",
	Minus: "-", Plus: "+", Equals: "=", Times: "x", AtMost: "<", AtLeast: ">", Dot: " ", Start: " ",
}
