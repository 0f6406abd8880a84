package picture

// Block and box characters are drawn as rectangles that fill their cells: fonts leave gaps between them, and differ.

// box is a rectangle in fractions of a cell, from its upper left corner.
type box struct{ x, y, w, h float64 }

// Directions of the arms of a box-drawing character.
const (
	left = 1 << iota
	right
	up
	down
)

// arms of the light box-drawing characters. Rounded corners are drawn square.
var arms = map[rune]int{
	'─': left | right, '│': up | down,
	'┌': right | down, '┐': left | down, '└': right | up, '┘': left | up,
	'╭': right | down, '╮': left | down, '╰': right | up, '╯': left | up,
	'├': right | up | down, '┤': left | up | down, '┬': left | right | down, '┴': left | right | up,
	'┼': left | right | up | down,
}

// shades of the characters that are a pattern over the whole cell, as opacity.
var shades = map[rune]float64{'░': 0.25, '▒': 0.5, '▓': 0.75}

// Thickness of lines, in fractions of a cell that is about twice as high as wide.
const (
	thickX = 0.14
	thickY = 0.065
)

// shape returns the rectangles of a character and their opacity; none for a character that is text.
func shape(r rune) ([]box, float64) {
	switch {
	case r >= '▁' && r <= '█':
		h := float64(r-'▁'+1) / 8
		return []box{{0, 1 - h, 1, h}}, 1
	case r >= '▉' && r <= '▏':
		return []box{{0, 0, float64('▏'-r+1) / 8, 1}}, 1
	case r == '▀':
		return []box{{0, 0, 1, 0.5}}, 1
	case r == '▐':
		return []box{{0.5, 0, 0.5, 1}}, 1
	case r == '╌':
		return []box{{0.08, 0.5 - thickY/2, 0.34, thickY}, {0.58, 0.5 - thickY/2, 0.34, thickY}}, 1
	}
	if opacity, ok := shades[r]; ok {
		return []box{{0, 0, 1, 1}}, opacity
	}
	return lines(arms[r]), 1
}

func lines(arm int) []box {
	var out []box
	if arm&(left|right) != 0 {
		from, to := 0.5-thickX/2, 0.5+thickX/2
		if arm&left != 0 {
			from = 0
		}
		if arm&right != 0 {
			to = 1
		}
		out = append(out, box{from, 0.5 - thickY/2, to - from, thickY})
	}
	if arm&(up|down) != 0 {
		from, to := 0.5-thickY/2, 0.5+thickY/2
		if arm&up != 0 {
			from = 0
		}
		if arm&down != 0 {
			to = 1
		}
		out = append(out, box{0.5 - thickX/2, from, thickX, to - from})
	}
	return out
}
