package tui

// The smallest terminal the workbench is made for.
const (
	minWidth  = 80
	minHeight = 24
)

// rect is a part of the terminal, in cells.
type rect struct{ x, y, w, h int }

// frame is where the parts of the screen are. All sizes are at least 0, and together they are the terminal's.
type frame struct {
	header, summary, title, body, status, menu rect
}

// parts are the heights that a view asks for.
type parts struct {
	summary int
	menu    int
}

// layout divides a terminal. The body takes what the others leave.
func layout(width, height int, p parts) frame {
	width, height = max(width, 0), max(height, 0)
	y := 0
	take := func(h int) rect {
		h = max(min(h, height-y), 0)
		r := rect{x: 0, y: y, w: width, h: h}
		y += h
		return r
	}
	var f frame
	f.header = take(1)
	f.summary = take(p.summary)
	f.title = take(1)
	f.body = take(height - y - 1 - p.menu)
	f.status = take(1)
	f.menu = take(p.menu)
	return f
}

// frame is the layout of the current screen.
func (m *Model) frame() frame {
	p := parts{menu: 1}
	if m.page().screen.summary {
		p.summary = 2
		if m.height >= 32 {
			p.summary = 4
		}
	}
	return layout(m.width, m.height, p)
}

func (m *Model) tooSmall() bool { return m.width < minWidth || m.height < minHeight }
