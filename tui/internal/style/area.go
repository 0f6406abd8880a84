package style

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// Area is one part of a node's capacity in the co-location story.
type Area int

// The areas, in the order in which charts and bars stack them.
const (
	// ProdUsed is used by pods that are neither mid, batch nor free.
	ProdUsed Area = iota
	// ProdReserved is requested by those pods, not used, and not offered to others either.
	ProdReserved
	// Mid is offered to mid pods, or used by them where that is more.
	Mid
	// BatchUsed is used by batch pods.
	BatchUsed
	// BatchFree is offered as batch and not used.
	BatchFree
	// System is used by nothing that is a pod.
	System
	// Rest is what is left.
	Rest

	areaCount
)

var areaNames = [areaCount]string{"prod used", "prod reserved", "mid", "batch used", "batch free", "system", "idle"}

// String is the area's name in legends.
func (a Area) String() string {
	if a < 0 || a >= areaCount {
		return ""
	}
	return areaNames[a]
}

// AreaStyles draws areas: as fill colours, or as one pattern glyph each where there are no colours.
type AreaStyles struct {
	// Patterns are the glyphs that tell areas apart without colour.
	Patterns [areaCount]string

	colour bool
	limit  [areaCount]Style
	cells  [areaCount][areaCount + 1]Style
	spot   [areaCount]Style
	plain  Style
}

// Colour reports whether areas are distinguished by colour, so that partial block glyphs may be used.
func (a *AreaStyles) Colour() bool { return a.colour }

// Pair is the style of a cell whose glyph shows the fore area on the back area; a back of -1 leaves the background.
func (a *AreaStyles) Pair(fore, back Area) Style {
	if !a.colour {
		return a.plain
	}
	if back < 0 {
		back = areaCount
	}
	return a.cells[fore][back]
}

// Limit is the style of the capacity line where it crosses the area.
func (a *AreaStyles) Limit(area Area) Style {
	if !a.colour {
		return a.plain
	}
	return a.limit[area]
}

// Swatch is the legend's mark of an area.
func (a *AreaStyles) Swatch(area Area, full string) string {
	if a.colour {
		return a.spot[area].Render(full)
	}
	return a.plain.Render(a.Patterns[area])
}

func areasFor(s *Set, p palette) AreaStyles {
	out := AreaStyles{colour: s.Colour() && !s.ASCII, plain: s.Plain}
	out.Patterns = [areaCount]string{"█", "░", "▓", "▚", "·", "▒", " "}
	if s.ASCII {
		out.Patterns = [areaCount]string{"#", "-", "%", "+", ".", "=", " "}
	}
	for fore := range areaCount {
		out.spot[fore] = pair(p.areas[fore], s.onRow)
		for back := range areaCount {
			out.cells[fore][back] = pair(p.areas[fore], p.areas[back])
		}
		out.limit[fore] = pair(p.bad, p.areas[fore])
		out.cells[fore][areaCount] = pair(p.areas[fore], s.onRow)
	}
	return out
}

func pair(fg, bg color.Color) Style {
	st := ansi.NewStyle()
	if fg != nil {
		st = st.ForegroundColor(fg)
	}
	if bg != nil {
		st = st.BackgroundColor(bg)
	}
	if len(st) == 0 {
		return Style{}
	}
	return Style{prefix: st.String()}
}
