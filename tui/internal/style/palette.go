package style

import (
	"image/color"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// palette is the raw colours of one background; nil leaves the terminal's own.
type palette struct {
	text, dim, faint, accent, ok, info, warn, bad, selection color.Color

	areas [areaCount]color.Color
}

func hex(v uint32) color.Color {
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xff} //nolint:gosec // bytes by construction
}

func paletteFor(a Appearance) palette {
	of := a.Theme.declared()
	switch {
	case !a.Colour():
		return palette{}
	case a.Profile == colorprofile.ANSI:
		return of.basic()
	case a.Light:
		return of.light()
	case a.Profile == colorprofile.ANSI256:
		return of.indexed()
	default:
		return of.dark()
	}
}

func darkPalette() palette {
	return palette{
		dim: hex(0x8b93b0), faint: hex(0x565f7e), accent: hex(0x7dcfff),
		ok: hex(0x9ece6a), info: hex(0x7aa2f7), warn: hex(0xe0af68), bad: hex(0xf7768e), selection: hex(0x2c3555),
		areas: [areaCount]color.Color{
			ProdUsed: hex(0x6d95f0), ProdReserved: hex(0x33426b), Mid: hex(0xb78af0), BatchUsed: hex(0x8fc95f),
			BatchFree: hex(0x37502f), System: hex(0xd0986a), Rest: hex(0x262a3b),
		},
	}
}

// indexedPalette is the dark palette in the fixed colours of 256: the nearest ones to its dark tones are too bright.
func indexedPalette() palette {
	index := func(i uint8) color.Color { return ansi.IndexedColor(i) }
	return palette{
		dim: index(246), faint: index(241), accent: index(117),
		ok: index(149), info: index(111), warn: index(179), bad: index(204), selection: index(237),
		areas: [areaCount]color.Color{
			ProdUsed: index(69), ProdReserved: index(24), Mid: index(141), BatchUsed: index(113),
			BatchFree: index(22), System: index(173), Rest: index(235),
		},
	}
}

func lightPalette() palette {
	return palette{
		dim: hex(0x5a6078), faint: hex(0x9aa0b4), accent: hex(0x006a9e),
		ok: hex(0x3d7a1a), info: hex(0x2c5fc4), warn: hex(0x8f5e00), bad: hex(0xc02645), selection: hex(0xd6def5),
		areas: [areaCount]color.Color{
			ProdUsed: hex(0x3b6fd9), ProdReserved: hex(0xb4c5ee), Mid: hex(0x8d5bd6), BatchUsed: hex(0x4d9a25),
			BatchFree: hex(0xbfe0aa), System: hex(0xb9722f), Rest: hex(0xe4e6ee),
		},
	}
}

func basicPalette() palette {
	return palette{
		faint: ansi.BrightBlack, accent: ansi.Cyan, ok: ansi.Green, info: ansi.Blue, warn: ansi.Yellow, bad: ansi.Red,
		selection: ansi.BrightBlack,
		areas: [areaCount]color.Color{
			ProdUsed: ansi.BrightBlue, ProdReserved: ansi.Blue, Mid: ansi.Magenta, BatchUsed: ansi.BrightGreen,
			BatchFree: ansi.Green, System: ansi.Yellow, Rest: ansi.BrightBlack,
		},
	}
}
