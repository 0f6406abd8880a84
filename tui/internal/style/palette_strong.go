package style

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// The strong palettes write every text, also what is of less weight, with at least seven times the luminance of what is behind it (WCAG 2.2,
// success criterion 1.4.6).

func strongDarkPalette() palette {
	return palette{
		text: hex(0xffffff), dim: hex(0xdedede), faint: hex(0xb4b4b4), accent: hex(0x6fe3ff),
		ok: hex(0x6dff6d), info: hex(0x9fc4ff), warn: hex(0xffd84d), bad: hex(0xff9a9a), selection: hex(0x003a70),
		areas: [areaCount]color.Color{
			ProdUsed: hex(0x4d9dff), ProdReserved: hex(0x123f86), Mid: hex(0xff8cff), BatchUsed: hex(0x4dff4d),
			BatchFree: hex(0x0c6a0c), System: hex(0xffb04d), Rest: hex(0x303030),
		},
	}
}

func strongLightPalette() palette {
	return palette{
		text: hex(0x000000), dim: hex(0x303030), faint: hex(0x4a4a4a), accent: hex(0x00407a),
		ok: hex(0x0a4f0a), info: hex(0x0b3a9a), warn: hex(0x5a3a00), bad: hex(0x8a0018), selection: hex(0xffe58a),
		areas: [areaCount]color.Color{
			ProdUsed: hex(0x0b4fd0), ProdReserved: hex(0x93b6ff), Mid: hex(0x8a1fc0), BatchUsed: hex(0x0c7a0c),
			BatchFree: hex(0x9be59b), System: hex(0xb05400), Rest: hex(0xdddddd),
		},
	}
}

func strongIndexedPalette() palette {
	index := func(i uint8) color.Color { return ansi.IndexedColor(i) }
	return palette{
		text: index(231), dim: index(253), faint: index(249), accent: index(87),
		ok: index(83), info: index(153), warn: index(221), bad: index(217), selection: index(17),
		areas: [areaCount]color.Color{
			ProdUsed: index(75), ProdReserved: index(25), Mid: index(213), BatchUsed: index(83),
			BatchFree: index(28), System: index(215), Rest: index(236),
		},
	}
}

func strongBasicPalette() palette {
	return palette{
		text: ansi.BrightWhite, dim: ansi.White, faint: ansi.White, accent: ansi.BrightCyan, ok: ansi.BrightGreen, info: ansi.BrightBlue,
		warn: ansi.BrightYellow, bad: ansi.BrightRed, selection: ansi.Blue,
		areas: [areaCount]color.Color{
			ProdUsed: ansi.BrightBlue, ProdReserved: ansi.Blue, Mid: ansi.BrightMagenta, BatchUsed: ansi.BrightGreen,
			BatchFree: ansi.Green, System: ansi.BrightYellow, Rest: ansi.BrightBlack,
		},
	}
}
