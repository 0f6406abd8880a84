package style

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// The safe palettes are built on the colours of Okabe and Ito (Color Universal Design, 2008), which differ in blue against yellow and in lightness:
// neither red and green nor blue and violet tell two states apart. The tests hold them to that with the simulation of Machado et al. (2009).

func safeDarkPalette() palette {
	return palette{
		dim: hex(0x9aa3b8), faint: hex(0x5c6478), accent: hex(0xcfe3ff),
		ok: hex(0x4aa8e8), info: hex(0xa7adba), warn: hex(0xf0e442), bad: hex(0xe8703a), selection: hex(0x2c3555),
		areas: [areaCount]color.Color{
			ProdUsed: hex(0x3f97dc), ProdReserved: hex(0x1c3f66), Mid: hex(0xd9a9c6), BatchUsed: hex(0xe69f00),
			BatchFree: hex(0x5e4408), System: hex(0xb9bcc4), Rest: hex(0x262a3b),
		},
	}
}

func safeLightPalette() palette {
	return palette{
		dim: hex(0x555c6e), faint: hex(0x969cac), accent: hex(0x0b3d70),
		ok: hex(0x0067ad), info: hex(0x5f6570), warn: hex(0x866400), bad: hex(0x620032), selection: hex(0xd6def5),
		areas: [areaCount]color.Color{
			ProdUsed: hex(0x0072b2), ProdReserved: hex(0xa9cdec), Mid: hex(0x8f5378), BatchUsed: hex(0xe69f00),
			BatchFree: hex(0xf6e3b0), System: hex(0x74777f), Rest: hex(0xe9eaee),
		},
	}
}

func safeIndexedPalette() palette {
	index := func(i uint8) color.Color { return ansi.IndexedColor(i) }
	return palette{
		dim: index(247), faint: index(241), accent: index(153),
		ok: index(75), info: index(249), warn: index(227), bad: index(209), selection: index(237),
		areas: [areaCount]color.Color{
			ProdUsed: index(74), ProdReserved: index(23), Mid: index(182), BatchUsed: index(178),
			BatchFree: index(58), System: index(250), Rest: index(235),
		},
	}
}

func safeBasicPalette() palette {
	return palette{
		faint: ansi.BrightBlack, accent: ansi.BrightWhite, ok: ansi.BrightBlue, info: ansi.White, warn: ansi.BrightYellow, bad: ansi.Red,
		selection: ansi.BrightBlack,
		areas: [areaCount]color.Color{
			ProdUsed: ansi.BrightBlue, ProdReserved: ansi.Blue, Mid: ansi.BrightMagenta, BatchUsed: ansi.BrightYellow,
			BatchFree: ansi.Yellow, System: ansi.White, Rest: ansi.BrightBlack,
		},
	}
}
